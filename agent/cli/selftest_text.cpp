#include "agent/cli/selftest_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/cli/table.h"

namespace agent::cli {
namespace {
using verifier::adversarial::AttackClass;

std::string text_of(const std::vector<campaign::SelftestFinding>& findings, const std::string& what) {
  std::string text;
  for (const campaign::SelftestFinding& one : findings) {
    text += fmt::format("{}: {} ({}) must be {} and is {}.\n  {}\n", what, one.name, one.tries, one.wanted, one.verdict,
                        one.sentence);
  }
  return text;
}
}  // namespace

std::string controls_text(const campaign::SelftestReport& report) {
  if (report.controls.empty()) return "";
  const auto ties = std::count_if(report.controls.begin(), report.controls.end(),
                                  [](const auto& one) { return one.outcome == verifier::statistics::Outcome::tie; });
  std::string text = fmt::format(
      "A/A: {} of {} kernels tie with themselves; {} of their 99 % intervals contain 1; the farthest end of one is "
      "{:.3f}x.\n",
      ties, report.controls.size(), report.controls_with_truth(), report.widest_noise().value());
  for (const auto& one : report.controls) {
    if (one.holds_truth()) continue;
    text += fmt::format("  {} {}: from {:.4f}x to {:.4f}x.\n", one.problem, one.kernel, one.ratio.low, one.ratio.high);
  }
  return text;
}

std::string selftest_text(const campaign::SelftestReport& report) {
  if (report.dishonest() + report.honest() == 0) return controls_text(report);
  Table table({{"CLASS"}, {"CASES", Table::Align::right}, {"WRONGLY JUDGED", Table::Align::right}});
  for (const auto& [of, name] : enum_rows(AttackClass{})) {
    const auto found = report.judged.find(of);
    if (of == AttackClass::honest || found == report.judged.end()) continue;
    table.add_row({std::string(name), std::to_string(found->second), ""});
  }
  table.add_row({"all dishonest", std::to_string(report.dishonest()), std::to_string(report.false_accepts.size())});
  table.add_row({"honest, including shipped kernels", std::to_string(report.honest()),
                 std::to_string(report.false_rejects.size())});
  std::string text = table.text();
  if (report.undecided > 0) {
    text +=
        fmt::format("{} more dishonest ones may be correct on this device and were not counted.\n", report.undecided);
  }
  text += text_of(report.false_accepts, "FALSE ACCEPT") + text_of(report.false_rejects, "FALSE REJECT") +
          text_of(report.otherwise, "refused otherwise");
  text += controls_text(report);
  if (const auto rate = report.candidates_per_hour()) {
    text += fmt::format("{:.0f} honest candidates an hour, judged in full.\n", *rate);
  }
  return text;
}

std::string selftest_line(const results::archive::SelftestRecord& record) {
  const results::archive::NewSelftest& of = record.of;
  std::string text = fmt::format("{} false accepts of {}, {} false rejects of {}", of.false_accepts, of.dishonest,
                                 of.false_rejects, of.honest);
  if (of.widest_noise) text += fmt::format(", A/A within {:.3f}x", *of.widest_noise);
  if (of.candidates_per_hour) text += fmt::format(", {:.0f} candidates an hour", *of.candidates_per_hour);
  return text + fmt::format("; {}{}", of.quick ? "quick, " : "", record.made);
}

}  // namespace agent::cli
