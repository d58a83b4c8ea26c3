// How fast is the candidate? Interleaved pairs against the incumbent, audited as they go. The same on every device.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "verifier/contest.h"
#include "verifier/judgement.h"
#include "verifier/keys.h"
#include "verifier/measurement.h"

namespace verifier {

class Timing {
 public:
  // `backend`: whose bench workloads are timed. `clock`: what the times are (measurement.h).
  Timing(const benchsuite::Problem& problem, std::string backend, std::string clock, const TimingSettings& settings,
         Effort effort, Keys& keys)
      : problem_(problem),
        backend_(std::move(backend)),
        clock_(std::move(clock)),
        settings_(settings),
        effort_(effort),
        keys_(keys) {}

  // All bench workloads; a Verdict when an audited launch was wrong. nullopt measurement inside when the problem has no
  // bench workload here. Throws core::SystemError when the incumbent fails.
  std::variant<Verdict, std::optional<Measurement>> measure(const OpenContest& open);

  double audit_ms() const { return audit_ms_; }

 private:
  std::variant<Verdict, WorkloadTiming> workload(const benchsuite::Workload& workload, Contest& contest);
  std::optional<Verdict> surprise(const Where& where, Contest& contest, Distribution distribution);
  std::multimap<int, Distribution> draw_surprises();
  std::optional<Verdict> audit(const Where& where, Contest& contest);
  bool enough(const WorkloadTiming& timing, double spent_s);
  int most_pairs() const { return effort_ == Effort::screen ? settings_.screen_pairs : settings_.most_pairs; }

  const benchsuite::Problem& problem_;
  std::string backend_, clock_;
  TimingSettings settings_;
  Effort effort_;
  Keys& keys_;
  double audit_ms_ = 0;
  bool stopped_early_ = false;
};

}  // namespace verifier
