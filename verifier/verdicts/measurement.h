// PairedTiming samples of a candidate, paired with the incumbent's, and what they show.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/strict_json.h"
#include "verifier/statistics/statistics.h"
#include "verifier/verdicts/counters.h"

namespace verifier::verdicts {

struct WorkloadTiming {
  std::string workload;
  std::vector<statistics::Pair> pairs;        // every sample, kept so that results can be judged again
  double candidate_us = 0, incumbent_us = 0;  // medians
  statistics::SpeedUp speed_up;
  std::optional<double> bound_us = std::nullopt;  // what the device would need at its measured peaks (verifier/bound.h)
  double weight = 1;                              // the workload's, in the speed-up over all of them

  // bound over time: 1 is the best there can be. Absent where the bound is not known.
  std::optional<double> share_of_bound() const {
    return bound_us && candidate_us > 0 ? std::optional(*bound_us / candidate_us) : std::nullopt;
  }
};

struct Measurement {
  std::string clock;  // what the times are: "cpu-rough" on the cpu device
  std::vector<WorkloadTiming> workloads;
  statistics::SpeedUp speed_up;                            // geometric mean over the workloads, by weight
  statistics::Outcome outcome = statistics::Outcome::tie;  // against the incumbent
  bool stopped_early = false;                              // enough pairs to see who is far ahead
  std::vector<Counters> counters =
      {};  // of the candidate's launches at its largest bench workload, where a profiler watched
};

core::Json to_json(const Measurement& measurement);
Measurement measurement_from_json(const core::JsonView& json);

}  // namespace verifier::verdicts
