// Timing samples of a candidate, paired with the incumbent's, and what they show.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/strict_json.h"
#include "verifier/counters.h"

namespace verifier {

enum class Outcome { win, tie, loss };
std::string_view name_of(Outcome outcome);

// One pair: both sides ran on the same inputs, one right after the other, in random order. Microseconds.
struct Pair {
  double candidate_us = 0, incumbent_us = 0;
  bool candidate_first = false;
  float candidate_mhz = 0, incumbent_mhz = 0;  // clock of the multiprocessors beside each; 0: not known
  bool throttled = false;                      // the device was slowing itself down during either
};

// exp of the median log-ratio incumbent/candidate, with a 99 % block-bootstrap interval. Above 1: the candidate is
// faster.
struct SpeedUp {
  double value = 1, low = 1, high = 1;
};

struct WorkloadTiming {
  std::string workload;
  std::vector<Pair> pairs;                    // every sample, kept so that results can be judged again
  double candidate_us = 0, incumbent_us = 0;  // medians
  SpeedUp speed_up;
  std::optional<double> bound_us = std::nullopt;  // what the device would need at its measured peaks (verifier/bound.h)

  // bound over time: 1 is the best there can be. Absent where the bound is not known.
  std::optional<double> share_of_bound() const {
    return bound_us && candidate_us > 0 ? std::optional(*bound_us / candidate_us) : std::nullopt;
  }
};

struct Measurement {
  std::string clock;  // what the times are: "cpu-rough" on the cpu device
  std::vector<WorkloadTiming> workloads;
  SpeedUp speed_up;                     // geometric mean over the workloads
  Outcome outcome = Outcome::tie;       // against the incumbent
  bool stopped_early = false;           // enough pairs to see who is far ahead
  std::vector<Counters> counters = {};  // of the candidate's launches at a bench workload, where a profiler watched
};

core::Json to_json(const Measurement& measurement);
Measurement measurement_from_json(const core::JsonView& json);

}  // namespace verifier
