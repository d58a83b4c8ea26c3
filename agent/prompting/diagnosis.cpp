#include "agent/prompting/diagnosis.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "agent/prompting/counter_findings.h"
#include "agent/prompting/limits.h"
#include "benchsuite/backend.h"
#include "core/text.h"

namespace agent::prompting {
namespace {
// "M=7 N=1023", as sandbox::describe writes it.
core::Bindings bindings_from(const std::string& text) {
  core::Bindings bindings;
  for (const std::string& part : core::split(text, ' ')) {
    const size_t equals = part.find('=');
    int64_t value = 0;
    if (equals == std::string::npos) continue;
    const char* end = part.data() + part.size();
    if (std::from_chars(part.data() + equals + 1, end, value).ptr == end) bindings[part.substr(0, equals)] = value;
  }
  return bindings;
}

struct Place {
  std::vector<int64_t> shape, at;
};
std::optional<Place> decoded(const benchsuite::Problem& problem, const std::string& output, const std::string& axes,
                             int64_t index) {
  const benchsuite::Tensor* tensor = problem.find_tensor(output);
  if (tensor == nullptr || index < 0) return std::nullopt;
  const core::Bindings bindings = bindings_from(axes);
  Place place;
  try {
    for (const core::Expr& size : tensor->shape) place.shape.push_back(size.eval(bindings));
  } catch (const core::ExprError&) {
    return std::nullopt;
  }
  place.at.resize(place.shape.size());
  for (size_t d = place.shape.size(); d-- > 0;) {
    if (place.shape[d] < 1) return std::nullopt;
    place.at[d] = index % place.shape[d];
    index /= place.shape[d];
  }
  return index == 0 ? std::optional(place) : std::nullopt;
}

std::string listed(const std::vector<int64_t>& numbers) {
  std::vector<std::string> parts;
  for (const int64_t number : numbers) parts.push_back(std::to_string(number));
  return "[" + core::join(parts, ", ") + "]";
}

bool near(double a, double b) { return std::fabs(a - b) < 2e-3 * std::fabs(b); }

// The line number in a compiler's error: "kernel.cu:12:5: error: ..." or "solution.cu(12): error: ...".
std::optional<int64_t> line_of_error(const std::string& text) {
  for (const std::string_view mark : {".cu:", ".cu("}) {
    const size_t at = text.find(mark);
    if (at == std::string::npos) continue;
    int64_t line = 0;
    const char* begin = text.data() + at + mark.size();
    if (std::from_chars(begin, text.data() + text.size(), line).ec == std::errc() && line > 0) return line;
  }
  return std::nullopt;
}

std::string size_remark(const verifier::verdicts::WrongResult& wrong, const sandbox::TunableBinding& binding) {
  std::vector<std::string> odd;
  for (const auto& [axis, size] : bindings_from(wrong.where.axes)) {
    int64_t most = 0;
    for (const auto& [name, value] : binding) most = std::max(most, value);
    if (size % 4 != 0) {
      odd.push_back(axis + "=" + std::to_string(size) + " is not a multiple of 4");
    } else if (most > 1 && size % most != 0) {
      odd.push_back(axis + "=" + std::to_string(size) + " is not a multiple of " + std::to_string(most));
    }
  }
  return odd.empty() ? "" : "At this shape " + core::join(odd, ", ") + ".";
}

// A line of the source with its number, and the one before it; empty when there is no such line.
std::string quoted_line(const std::string& source, int64_t line) {
  const std::vector<std::string> lines = core::split(source, '\n');
  if (line < 1 || line > static_cast<int64_t>(lines.size())) return "";
  std::string text;
  for (int64_t i = std::max<int64_t>(1, line - 1); i <= line; ++i) {
    text += (i == line ? "> " : "  ") + std::to_string(i) + " | " +
            core::clean_line(lines[static_cast<size_t>(i - 1)], 200) + "\n";
  }
  return text;
}

// The first errors of a compiler's log, each with its source line. Empty if the log has none.
std::string first_errors(const std::string& log, const std::string& source) {
  constexpr size_t kMost = 3;
  std::string text;
  std::set<std::string> seen;
  for (const std::string& line : core::split(log, '\n')) {
    const size_t error = line.find("error: ");
    if (error == std::string::npos || seen.size() >= kMost) continue;
    const std::string message = core::clean_line(line.substr(error + 7), 300);
    const std::optional<int64_t> number = line_of_error(line.substr(0, error));
    if (!seen.insert(message).second) continue;
    text += (number ? "line " + std::to_string(*number) + ": " : std::string()) + message + "\n";
    if (number) text += quoted_line(source, *number);
  }
  return text;
}

// "[3, 1020] of [7, 1023]": the position of a flat index in an output, at the axes that a verdict names ("M=7 N=1023").
// Empty if the shape is unknown or has one dimension.
std::string place_in_output(const benchsuite::Problem& problem, const std::string& output, const std::string& axes,
                            int64_t index) {
  const std::optional<Place> place = decoded(problem, output, axes, index);
  if (!place || place->shape.size() < 2) return "";
  return listed(place->at) + " of " + listed(place->shape);
}

// The likely cause behind a wrong element: lost or doubled terms, the last row or column, another precision, ... If the
// verdict already describes the pattern of all of them, adds only odd sizes.
std::string pattern_of(const verifier::verdicts::WrongResult& wrong, const benchsuite::Problem& problem,
                       const sandbox::TunableBinding& binding) {
  if (wrong.pattern) return size_remark(wrong, binding);
  std::vector<std::string> remarks;
  const double ratio = wrong.expected != 0 ? wrong.got / wrong.expected : 0;
  if (wrong.got == 0 && wrong.expected != 0) {
    remarks.emplace_back("It is zero: its result was not stored, or was zeroed afterwards.");
  } else if (near(ratio, 2) || near(ratio, 3) || near(ratio, 4) || near(ratio, 8)) {
    remarks.push_back("It is " + std::to_string(std::lround(ratio)) +
                      " times the right value: terms are added more than once.");
  } else if (near(ratio, 0.5) || near(ratio, 0.25) || near(ratio, 0.125)) {
    remarks.push_back("It is 1/" + std::to_string(std::lround(1 / ratio)) +
                      " of the right value: a part of the sum is lost, such as that of other warps.");
  } else if (near(ratio, -1)) {
    remarks.emplace_back("Its sign is wrong.");
  } else if (std::fabs(wrong.got - wrong.expected) < 0.02 * std::fabs(wrong.expected)) {
    remarks.emplace_back(
        "It is nearly right: check precision (type of the sums, approximate functions) before indexing.");
  }
  if (wrong.wrong_elements == wrong.elements) {
    remarks.emplace_back("Every element is wrong: check the formula or the whole indexing, not the edges.");
  } else if (const auto place = decoded(problem, wrong.output, wrong.where.axes, wrong.index)) {
    for (size_t d = place->at.size(); d-- > 0;) {
      if (place->shape[d] > 1 && place->at[d] == place->shape[d] - 1) {
        remarks.push_back("It lies at the end of dimension " + std::to_string(d) + ".");
        break;
      }
    }
  }
  if (const std::string sizes = size_remark(wrong, binding); !sizes.empty()) remarks.push_back(sizes);
  return core::join(remarks, " ");
}

constexpr size_t kMostDiagnosisBytes = 3000;
constexpr size_t kMostFindings = 3;  // of hardware counters

std::string quote(const std::string& lines) { return lines.empty() ? "" : "\n```\n" + lines + "```\n"; }

// The overloads below add to the verdict's own sentences, which come first.
std::string more(const verifier::verdicts::CompileFailed& v, const AttemptFacts& facts, const benchsuite::Problem&) {
  std::string errors = first_errors(facts.compile_log, facts.solution.source);
  if (errors.empty() && v.line) errors = quoted_line(facts.solution.source, *v.line);
  return quote(errors);
}

std::string in_output(const benchsuite::Problem& problem, const std::string& output,
                      const verifier::verdicts::Where& where, int64_t index) {
  const std::string place = place_in_output(problem, output, where.axes, index);
  return place.empty()
             ? ""
             : "\nIndex " + std::to_string(index) + " of " + core::clean_line(output, 64) + " is " + place + ".";
}

std::string more(const verifier::verdicts::WrongResult& v, const AttemptFacts& facts,
                 const benchsuite::Problem& problem) {
  const std::string pattern = pattern_of(v, problem, facts.binding);
  return in_output(problem, v.output, v.where, v.index) + (pattern.empty() ? "" : "\n" + pattern);
}
std::string more(const verifier::verdicts::NotWritten& v, const AttemptFacts&, const benchsuite::Problem& problem) {
  return in_output(problem, v.output, v.where, v.index) +
         (v.count == v.elements ? "\nNothing was written at all: check the grid and early returns." : "");
}
std::string more(const verifier::verdicts::WrongNonFinite& v, const AttemptFacts&, const benchsuite::Problem& problem) {
  return in_output(problem, v.output, v.where, v.index) +
         (v.where.distribution == "non_finite"
              ? "\nThe inputs held NaN and infinities; the contract requires the reference's handling."
              : "");
}
std::string more(const verifier::verdicts::OrderDependent& v, const AttemptFacts&, const benchsuite::Problem& problem) {
  return in_output(problem, v.output, v.where, v.index);
}
std::string more(const verifier::verdicts::Faulted& v, const AttemptFacts& facts, const benchsuite::Problem&) {
  return v.fault.line ? quote(quoted_line(facts.solution.source, *v.fault.line)) : "";
}
std::string more(const verifier::verdicts::TimedOut& v, const AttemptFacts&, const benchsuite::Problem&) {
  return v.where && !v.where->axes.empty() ? "\nLook for loops that wait for another thread or block, and for work per "
                                             "thread that grows with the whole shape."
                                           : "";
}
template <typename Other>
std::string more(const Other&, const AttemptFacts&, const benchsuite::Problem&) {
  return "";
}

std::string times(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2fx", value);
  return text.data();
}

// "bench_8192x8192: 134.1 us, 87 % of the memory bound; memory is at its limit; 1.02x [1.01x, 1.03x] against naive"
std::string workload_words(const WorkloadLimit& limit, const AttemptFacts& facts, bool alone) {
  const verifier::verdicts::WorkloadTiming& timing = *limit.timing;
  std::string text = core::clean_line(timing.workload, 100) + ": " + time_words(timing.candidate_us);
  if (const auto share = timing.share_of_bound()) {
    const std::string_view kind = !limit.by_compute ? "" : *limit.by_compute ? "arithmetic " : "memory ";
    text += ", " + percent(*share) + " of the " + std::string(kind) + "bound";
  }
  if (!limit.words.empty()) text += "; " + limit.words;
  text += "; " + times(timing.speed_up.value) + " [" + times(timing.speed_up.low) + ", " + times(timing.speed_up.high) +
          "] against " + (facts.against.empty() ? "the incumbent" : core::clean_line(facts.against, 100));
  if (!alone && limit.score_gain > 1) {
    text += "; at its limit, the score would be " + times(limit.score_gain) + " of what it is";
  }
  return text + "\n";
}

std::string timing_words(const std::vector<WorkloadLimit>& limits, const AttemptFacts& facts) {
  constexpr size_t kMost = 8;
  if (limits.size() == 1) return workload_words(limits[0], facts, true);
  std::string text = limits.empty() ? "" : "The timed shapes, first the one that costs the score most:\n";
  for (size_t i = 0; i < std::min(limits.size(), kMost); ++i) text += "- " + workload_words(limits[i], facts, false);
  if (limits.size() > kMost) text += "- and " + std::to_string(limits.size() - kMost) + " more\n";
  return text;
}

// A kernel that is far slower for some of the inputs cannot win, and the middle of its times does not show why.
std::string slow_path_words(const std::vector<WorkloadLimit>& limits) {
  constexpr double kSlowPath = 1.5;
  double worst = 1;
  for (const WorkloadLimit& limit : limits) {
    worst = std::max(worst, limit.timing->speed_up.value / limit.timing->speed_up.low);
  }
  if (!(worst > kSlowPath)) return "";
  return "Some of its timed runs take " + (worst < 100 ? times(worst) : "over 100x") +
         " as long as most, so it does not win. Does it have a slow path for some inputs? They are mixtures: ordinary "
         "numbers with denormals, outliers, zeros, equal or whole numbers among them. Narrow the condition, or make "
         "that "
         "path nearly as fast.\n";
}

std::string resource_words(const AttemptFacts& facts) {
  std::vector<std::string> parts;
  if (facts.registers) parts.push_back(std::to_string(*facts.registers) + " registers per thread");
  if (facts.shared_bytes) parts.push_back(std::to_string(*facts.shared_bytes) + " bytes of static shared memory");
  if (facts.spill_bytes)
    parts.push_back(*facts.spill_bytes > 0 ? std::to_string(*facts.spill_bytes) + " bytes spilled" : "no spills");
  if (facts.occupancy) parts.push_back("occupancy " + percent(*facts.occupancy));
  return parts.empty() ? "" : "It uses " + core::join(parts, ", ") + ".\n";
}

// The share of the memory bound that a workload reaches; 0: unknown, or bound by arithmetic.
double of_memory_bound(const WorkloadLimit* limit) {
  if (limit == nullptr || limit->by_compute.value_or(true)) return 0;
  return limit->timing->share_of_bound().value_or(0);
}

// The limit, what to do about it, and what else the counters say.
std::string limit_words(const Limit& limit, const std::vector<WorkloadLimit>& workloads, const AttemptFacts& facts) {
  const std::string where = workloads.size() > 1 ? " at " + core::clean_line(workloads[0].timing->workload, 100) : "";
  std::string text = "What limits it" + where + ": " + limit.sentence + "\n";
  if (limit.change) {
    text += "What to change: " + std::string(limit.change->words) + "\n";
  } else if (!workloads.empty() && workloads[0].at_limit()) {
    text += "What to change: little is left to gain here.\n";
  } else if (facts.calibration) {
    text += "What to change: its source follows all that is known to help against this; try another structure.\n";
  }
  const auto counted = std::ranges::find(workloads, true, &WorkloadLimit::counted);
  if (counted == workloads.end()) return text;
  const std::string at = workloads.size() > 1 ? ", taken at " + core::clean_line(counted->timing->workload, 100) : "";
  const std::vector<CounterFinding> findings = findings_in(facts.measurement->counters);
  for (size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i) {
    if (findings[i].sentence != limit.sentence)
      text += "Its counters" + at + (at.empty() ? "" : ",") + " also say: " + findings[i].sentence + "\n";
  }
  return text;
}

Diagnosis of_correct(const AttemptFacts& facts, const benchsuite::Problem& problem, const std::string& backend) {
  Diagnosis diagnosis;
  diagnosis.correct = true;
  const std::vector<WorkloadLimit> workloads = workload_limits(facts, problem);
  const WorkloadLimit* focus = workloads.empty() ? nullptr : workloads.data();
  const benchsuite::Workload* shape =
      focus != nullptr && focus->workload != nullptr ? focus->workload : first_bench(problem, backend);
  const CodeFacts code =
      facts_of(facts.solution, facts.binding, shape != nullptr ? shape->axes : core::Bindings{}, problem);
  const Situation situation{code, problem, benchsuite::backend_of(backend).value_or(benchsuite::Backend::cpu),
                            facts.architecture, of_memory_bound(focus)};
  const bool on_cpu = situation.backend == benchsuite::Backend::cpu;
  const Limit limit = on_cpu ? limit_on_cpu(focus, situation) : limit_on_gpu(facts, focus, situation);
  diagnosis.bottlenecks = limit.of;
  if (limit.change) diagnosis.advice = limit.change->advice;
  diagnosis.text =
      "It is correct.\n" + timing_words(workloads, facts) + slow_path_words(workloads) + resource_words(facts);
  if (const std::string point = sandbox::describe(facts.binding); !point.empty()) {
    diagnosis.text += "This is at " + core::clean_line(point, 300) +
                      (facts.swept ? "; the tuner sweeps other values of its tunables for you.\n"
                                   : "; other values of its tunables may be faster.\n");
  }
  diagnosis.text += limit_words(limit, workloads, facts);
  return diagnosis;
}
}  // namespace

Diagnosis diagnose(const AttemptFacts& facts, const benchsuite::Problem& problem, const std::string& backend) {
  Diagnosis diagnosis;
  if (verifier::verdicts::is_correct(facts.verdict)) {
    diagnosis = of_correct(facts, problem, backend);
  } else {
    const std::string added = std::visit([&](const auto& v) { return more(v, facts, problem); }, facts.verdict);
    diagnosis.text =
        "Verdict " + name_of(facts.verdict) + ". " + verifier::verdicts::sentence_for_models(facts.verdict) + added;
    if (const std::string point = sandbox::describe(facts.binding); !point.empty()) {
      diagnosis.text += (diagnosis.text.back() == '\n' ? "" : "\n") + std::string("The tunables were ") +
                        core::clean_line(point, 300) + ".";
    }
  }
  diagnosis.text = core::clean_text(diagnosis.text, kMostDiagnosisBytes);
  return diagnosis;
}

}  // namespace agent::prompting
