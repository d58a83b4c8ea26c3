// How fast is the candidate? Interleaved pairs against the incumbent, audited as they go.
#pragma once

#include <optional>
#include <variant>

#include "verifier/cpu/checking.h"
#include "verifier/measurement.h"

namespace verifier::cpu {

class Timing {
 public:
  Timing(ProblemAtHand& at_hand, const TimingSettings& settings, Effort effort, Keys& keys)
      : at_hand_(at_hand), settings_(settings), effort_(effort), keys_(keys) {}

  // All bench workloads of the cpu device; a Verdict when an audited launch was wrong. nullopt measurement inside when
  // the problem has no bench workload here. Throws core::SystemError when the incumbent fails.
  std::variant<Verdict, std::optional<Measurement>> measure(Side& candidate, Side& incumbent);

  double audit_ms() const { return audit_ms_; }

 private:
  std::variant<Verdict, WorkloadTiming> workload(const benchsuite::Workload& workload, Side& candidate,
                                                 Side& incumbent);
  bool enough(const WorkloadTiming& timing, double spent_s);
  int most_pairs() const { return effort_ == Effort::screen ? settings_.screen_pairs : settings_.most_pairs; }

  ProblemAtHand& at_hand_;
  TimingSettings settings_;
  Effort effort_;
  Keys& keys_;
  double audit_ms_ = 0;
  bool stopped_early_ = false;
};

}  // namespace verifier::cpu
