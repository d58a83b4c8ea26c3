#include "agent/prompting/diagnosis.h"

#include <array>
#include <cstdio>

#include "agent/prompting/failure_words.h"
#include "agent/prompting/limits.h"
#include "core/text.h"

namespace agent {
namespace {
constexpr size_t kMostDiagnosisBytes = 3000;
constexpr size_t kMostFindings = 3;  // of the counters

std::string quote(const std::string& lines) { return lines.empty() ? "" : "\n```\n" + lines + "```\n"; }

// A verdict's own sentences come first; what is added is said by the overloads below.
std::string more(const verifier::CompileFailed& v, const AttemptFacts& facts, const benchsuite::Problem&) {
  std::string errors = first_errors(facts.compile_log, facts.solution.source);
  if (errors.empty() && v.line) errors = quoted_line(facts.solution.source, *v.line);
  return quote(errors);
}

std::string in_output(const benchsuite::Problem& problem, const std::string& output, const verifier::Where& where,
                      int64_t index) {
  const std::string place = place_in_output(problem, output, where.axes, index);
  return place.empty()
             ? ""
             : "\nIndex " + std::to_string(index) + " of " + core::clean_line(output, 64) + " is " + place + ".";
}

std::string more(const verifier::WrongResult& v, const AttemptFacts& facts, const benchsuite::Problem& problem) {
  const std::string pattern = pattern_of(v, problem, facts.binding);
  return in_output(problem, v.output, v.where, v.index) + (pattern.empty() ? "" : "\n" + pattern);
}
std::string more(const verifier::NotWritten& v, const AttemptFacts&, const benchsuite::Problem& problem) {
  return in_output(problem, v.output, v.where, v.index) +
         (v.count == v.elements ? "\nNothing was written at all: look at the grid and at early returns." : "");
}
std::string more(const verifier::WrongNonFinite& v, const AttemptFacts&, const benchsuite::Problem& problem) {
  return in_output(problem, v.output, v.where, v.index) +
         (v.where.distribution == "non_finite"
              ? "\nThe inputs held NaN and infinities, and the contract wants them handled as the reference does."
              : "");
}
std::string more(const verifier::OrderDependent& v, const AttemptFacts&, const benchsuite::Problem& problem) {
  return in_output(problem, v.output, v.where, v.index);
}
std::string more(const verifier::Faulted& v, const AttemptFacts& facts, const benchsuite::Problem&) {
  return v.fault.line ? quote(quoted_line(facts.solution.source, *v.fault.line)) : "";
}
std::string more(const verifier::TimedOut& v, const AttemptFacts&, const benchsuite::Problem&) {
  return v.where && !v.where->axes.empty()
             ? "\nLook for loops whose end depends on another thread or block, and for work per thread that grows with "
               "the whole shape."
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

// "bench_8192x8192: 134.1 us, 87 % of the bound; 1.02x [1.01, 1.03] against naive"
std::string timing_words(const AttemptFacts& facts) {
  std::string text;
  for (const verifier::WorkloadTiming& timing : facts.measurement->workloads) {
    text += core::clean_line(timing.workload, 100) + ": " + time_words(timing.candidate_us);
    if (const auto share = timing.share_of_bound()) text += ", " + percent(*share) + " of the bound";
    text += "; " + times(timing.speed_up.value) + " [" + times(timing.speed_up.low) + ", " +
            times(timing.speed_up.high) + "] against " +
            (facts.against.empty() ? "the incumbent" : core::clean_line(facts.against, 100)) + "\n";
  }
  return text;
}

std::string resource_words(const AttemptFacts& facts) {
  std::vector<std::string> parts;
  if (facts.registers) parts.push_back(std::to_string(*facts.registers) + " registers a thread");
  if (facts.shared_bytes) parts.push_back(std::to_string(*facts.shared_bytes) + " bytes of static shared memory");
  if (facts.spill_bytes)
    parts.push_back(*facts.spill_bytes > 0 ? std::to_string(*facts.spill_bytes) + " bytes spilled" : "no spills");
  if (facts.occupancy) parts.push_back("occupancy " + percent(*facts.occupancy));
  return parts.empty() ? "" : "It uses " + core::join(parts, ", ") + ".\n";
}

Diagnosis of_correct(const AttemptFacts& facts, const benchsuite::Problem& problem, const std::string& backend) {
  Diagnosis diagnosis;
  diagnosis.correct = true;
  const benchsuite::Workload* bench = first_bench(problem, backend);
  const CodeFacts code =
      facts_of(facts.solution, facts.binding, bench != nullptr ? bench->axes : core::Bindings{}, problem);
  const Limit limit = backend == "cpu" ? limit_on_cpu(facts, code, problem) : limit_on_gpu(facts, code, problem);
  diagnosis.bottlenecks = limit.of;
  diagnosis.text = "It is correct.\n";
  if (facts.measurement) diagnosis.text += timing_words(facts);
  diagnosis.text += resource_words(facts);
  if (const std::string point = sandbox::describe(facts.binding); !point.empty()) {
    diagnosis.text +=
        "This is at " + core::clean_line(point, 300) + "; other values of its tunables are swept for you.\n";
  }
  diagnosis.text += "What limits it: " + limit.sentence + "\n";
  for (size_t i = 0; i < std::min(facts.counters.size(), kMostFindings); ++i) {
    const std::string& sentence = facts.counters[i].sentence;
    if (sentence != limit.sentence) diagnosis.text += "Its counters also say: " + sentence + "\n";
  }
  return diagnosis;
}
}  // namespace

Diagnosis diagnose(const AttemptFacts& facts, const benchsuite::Problem& problem, const std::string& backend) {
  Diagnosis diagnosis;
  if (verifier::is_correct(facts.verdict)) {
    diagnosis = of_correct(facts, problem, backend);
  } else {
    const std::string added = std::visit([&](const auto& v) { return more(v, facts, problem); }, facts.verdict);
    diagnosis.text =
        "Verdict " + verifier::name_of(facts.verdict) + ". " + verifier::sentence_for_models(facts.verdict) + added;
    if (const std::string point = sandbox::describe(facts.binding); !point.empty()) {
      diagnosis.text += (diagnosis.text.back() == '\n' ? "" : "\n") + std::string("The tunables were ") +
                        core::clean_line(point, 300) + ".";
    }
  }
  diagnosis.text = core::clean_text(diagnosis.text, kMostDiagnosisBytes);
  return diagnosis;
}

}  // namespace agent
