#include "agent/progress_words.h"

#include <fmt/format.h>

#include "agent/table.h"

namespace agent {

std::string describe(const BudgetLeft& left) {
  std::string text;
  if (left.attempts) text += fmt::format("{} attempts", *left.attempts);
  if (left.seconds) text += fmt::format("{}{:.0f} s", text.empty() ? "" : ", ", *left.seconds);
  return text.empty() ? "no limit" : text;
}

std::string describe(const AttemptReport& r) {
  const std::string what = r.tunables.empty() ? r.solution : r.solution + " " + r.tunables;
  std::string text = fmt::format("{:<7} {}  {}", name_of(r.effort), what, name_of(*r.verdict));
  if (r.speed_up) text += "  " + format_speed_up(*r.speed_up);
  if (r.reused) text += "  (same binary as before)";
  if (r.new_best) text += "  NEW BEST";
  return text;
}

std::string describe(const ExchangeReport& r) {
  const int64_t in = r.usage.input + r.usage.cache_read + r.usage.cache_written;
  std::string text = fmt::format(
      "{} request{}, {} tokens in ({:.0f} % from caches), {} out", r.requests, r.requests == 1 ? "" : "s", in,
      in > 0 ? 100.0 * static_cast<double>(r.usage.cache_read) / static_cast<double>(in) : 0.0, r.usage.output);
  if (r.dollars > 0) text += fmt::format(", ${:.4f}", r.dollars);
  if (r.in_flight > 0) text += fmt::format(", {} in flight", r.in_flight);
  return text;
}

}  // namespace agent
