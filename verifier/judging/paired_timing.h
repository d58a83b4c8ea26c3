// How fast is the candidate? Interleaved pairs against the incumbent, audited as they go. The same on every device.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "verifier/judging/paired_launches.h"
#include "verifier/statistics/keys.h"
#include "verifier/verdicts/judgement.h"
#include "verifier/verdicts/measurement.h"

namespace verifier::judging {

class PairedTiming {
 public:
  // `backend`: whose bench workloads are timed. `clock`: what the times are (measurement.h).
  PairedTiming(const benchsuite::Problem& problem, std::string backend, std::string clock,
               const verdicts::TimingSettings& settings, verdicts::Effort effort, statistics::Keys& keys)
      : problem_(problem),
        backend_(std::move(backend)),
        clock_(std::move(clock)),
        settings_(settings),
        effort_(effort),
        keys_(keys) {}

  // All bench workloads; a Verdict when an audited launch was wrong. nullopt measurement inside when the problem has no
  // bench workload here. Throws core::SystemError when the incumbent fails.
  std::variant<verdicts::Verdict, std::optional<verdicts::Measurement>> measure(const OpenPairedLaunches& open);

  double audit_ms() const { return audit_ms_; }

 private:
  std::variant<verdicts::Verdict, verdicts::WorkloadTiming> workload(const benchsuite::Workload& workload,
                                                                     PairedLaunches& launches);
  std::optional<verdicts::Verdict> surprise(const verdicts::Where& where, PairedLaunches& launches,
                                            draws::Distribution distribution);
  std::multimap<int, draws::Distribution> draw_surprises();
  std::optional<verdicts::Verdict> audit(const verdicts::Where& where, PairedLaunches& launches, size_t slot);
  bool enough(const verdicts::WorkloadTiming& timing, double spent_s);
  int most_pairs() const { return effort_ == verdicts::Effort::screen ? settings_.screen_pairs : settings_.most_pairs; }

  const benchsuite::Problem& problem_;
  std::string backend_, clock_;
  verdicts::TimingSettings settings_;
  verdicts::Effort effort_;
  statistics::Keys& keys_;
  double audit_ms_ = 0;
  bool stopped_early_ = false;
};

}  // namespace verifier::judging
