#include "agent/cli/attempt_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/cli/table.h"
#include "core/text.h"
#include "verifier/statistics/statistics.h"

namespace agent::cli {
namespace {

// The archive keeps all pairs; --json shows them, text only counts them.
std::string samples_note(const verifier::verdicts::WorkloadTiming& timing) {
  std::string note = fmt::format("{} pairs", timing.pairs.size());
  const size_t left_out = timing.pairs.size() - verifier::statistics::steady_pairs(timing.pairs).size();
  const auto throttled =
      std::count_if(timing.pairs.begin(), timing.pairs.end(), [](const auto& pair) { return pair.throttled; });
  if (left_out > 0) note += fmt::format(", {} left out for their clocks", left_out);
  if (throttled > 0) note += fmt::format(", {} throttled", throttled);
  return note;
}

std::string share_text(std::optional<double> bound_us, double time_us) {
  return bound_us && time_us > 0 ? fmt::format("{:.0f} %", 100 * *bound_us / time_us) : "";
}

std::string bound_note(const verifier::verdicts::WorkloadTiming& timing) {
  if (!timing.share_of_bound()) return "";
  return fmt::format("{} of the bound ({})", share_text(timing.bound_us, timing.candidate_us),
                     format_time_us(*timing.bound_us));
}

std::string candidate_name(const std::string& solution, const sandbox::TunableBinding& binding) {
  const std::string tunables = sandbox::describe(binding);
  return core::clean_line(solution) + (tunables.empty() ? "" : " " + tunables);
}
}  // namespace

std::string measurement_text(const verifier::verdicts::Measurement& m, const std::string& against) {
  using Align = Table::Align;
  std::string text = fmt::format("{} against {} ({} clock), 99 % interval: {}\n",
                                 format_speed_up(m.speed_up.value, m.speed_up.low, m.speed_up.high),
                                 core::clean_line(against), m.clock, name_of(m.outcome));
  const bool bound_known =
      std::any_of(m.workloads.begin(), m.workloads.end(), [](const auto& timing) { return bool(timing.bound_us); });
  const bool weighted =
      std::any_of(m.workloads.begin(), m.workloads.end(), [](const auto& timing) { return timing.weight != 1; });
  std::vector<Table::Column> columns{{"  WORKLOAD"},
                                     {"TIME", Align::right},
                                     {"INCUMBENT", Align::right},
                                     {"SPEED-UP", Align::right},
                                     {"SAMPLES", Align::right}};
  if (bound_known) columns.push_back({"BOUND"});
  if (weighted) columns.push_back({"WEIGHT", Align::right});
  Table table(columns);
  for (const verifier::verdicts::WorkloadTiming& timing : m.workloads) {
    std::vector<std::string> cells{
        "  " + timing.workload, format_time_us(timing.candidate_us), format_time_us(timing.incumbent_us),
        format_speed_up(timing.speed_up.value, timing.speed_up.low, timing.speed_up.high), samples_note(timing)};
    if (bound_known) cells.push_back(bound_note(timing));
    if (weighted) cells.push_back(fmt::format("{}", timing.weight));
    table.add_row(std::move(cells));
  }
  return text + table.text();
}

std::string attempt_text(const results::archive::RecordedAttempt& a, const std::string& facts) {
  std::string text = fmt::format("attempt {}: {} for {} on {}, {} effort, {}\n", a.id,
                                 candidate_name(a.solution, a.binding), a.problem, a.device, a.effort, a.made);
  if (!a.campaign.empty()) text += "campaign " + a.campaign + "\n";
  if (a.reused_from)
    text += fmt::format("same binary and plan as attempt {}, whose result it copies\n", *a.reused_from);
  text += fmt::format("{}: {}\n", name_of(a.verdict), verifier::verdicts::sentence_for_people(a.verdict));
  if (a.measurement) text += measurement_text(*a.measurement, a.against);
  text += facts;
  if (!a.compile_log.empty()) text += "\ncompiler:\n  " + core::join(core::split(a.compile_log, '\n'), "\n  ") + "\n";
  text += "\n";
  for (const auto& [fact, value] : a.environment.items()) {
    text +=
        fmt::format("{:<14} {}\n", fact, value.is_string() ? core::clean_line(value.get<std::string>()) : value.dump());
  }
  return text + "\n" + a.source;
}

}  // namespace agent::cli
