// Explains one attempt and names the one thing to do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/prompting/advice.h"
#include "benchsuite/problem.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/calibration.h"
#include "verifier/verdicts/measurement.h"
#include "verifier/verdicts/verdict.h"

namespace agent::prompting {

// Facts about an attempt. The diagnosis does not mention absent ones.
struct AttemptFacts {
  verifier::verdicts::Verdict verdict;
  std::optional<verifier::verdicts::Measurement> measurement;  // of a correct attempt
  std::string against;  // the incumbent it was timed against: "naive", or a solution of the prompt
  sandbox::Solution solution;
  sandbox::TunableBinding binding;
  std::string compile_log;  // from the archive
  std::optional<int64_t> registers, shared_bytes, spill_bytes;
  std::optional<double> occupancy;  // resident warps over the device's maximum, 0 to 1
  std::string architecture;         // of a GPU: "sm_90a"
  std::optional<verifier::verdicts::Calibration> calibration;
  bool swept = true;  // a tuner tries the other values of its tunables
};

struct Diagnosis {
  std::string text;  // paragraphs of clean text, about 3 KiB at most
  bool correct = false;
  std::vector<Bottleneck> bottlenecks;  // of a correct attempt; the worst first
  std::optional<Advice> advice = {};    // of a correct attempt; absent: its source follows all that is known to help
};

// `backend`: of the device.
Diagnosis diagnose(const AttemptFacts& facts, const benchsuite::Problem& problem, const std::string& backend);

}  // namespace agent::prompting
