// One attempt, and the one thing to do about it: what a good engineer would say who has looked at it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/prompting/bottleneck.h"
#include "agent/prompting/counter_findings.h"
#include "benchsuite/problem.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/measurement.h"
#include "verifier/verdicts/verdict.h"

namespace agent::prompting {

// What is known of an attempt. Whatever is absent is not spoken of.
struct AttemptFacts {
  verifier::verdicts::Verdict verdict;
  std::optional<verifier::verdicts::Measurement> measurement;  // of a correct one
  std::string against;  // what it was timed against: "naive", or a solution of the prompt
  sandbox::Solution solution;
  sandbox::TunableBinding binding;
  std::string compile_log;  // as the archive has it
  std::optional<int64_t> registers, shared_bytes, spill_bytes;
  std::optional<double> occupancy;       // resident warps over those that the device can hold, 0 to 1
  std::vector<CounterFinding> counters;  // the most telling first
  std::optional<bool> bound_by_compute;  // verifier::verdicts::Bound
  std::optional<double> launch_floor_us;
};

struct Diagnosis {
  std::string text;  // paragraphs; clean, and not longer than some 3 KiB
  bool correct = false;
  std::vector<Bottleneck> bottlenecks;  // of a correct one; the worst first
};

// `backend`: where it ran, "cpu" or "cuda".
Diagnosis diagnose(const AttemptFacts& facts, const benchsuite::Problem& problem, const std::string& backend);

}  // namespace agent::prompting
