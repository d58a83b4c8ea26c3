#include <algorithm>
#include <cmath>

#include "results/transfer/check.h"
#include "verifier/statistics/statistics.h"

namespace results::transfer {
namespace {
using core::JsonView;
using verifier::statistics::Pair;
using verifier::statistics::SpeedUp;
constexpr double kRounding = 1e-9;  // relative: another libm, another order of sums

bool same(double a, double b) { return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

bool is_time(double us) { return std::isfinite(us) && us > 0; }

void check_interval(const SpeedUp& s, const std::string& of, const JsonView& view) {
  if (is_time(s.low) && std::isfinite(s.high) && s.low <= s.value * (1 + kRounding) &&
      s.value <= s.high * (1 + kRounding)) {
    return;
  }
  view.fail("the interval of the speed-up " + of + " does not hold it");
}

double speed_up_of(const std::vector<Pair>& pairs) {
  std::vector<double> logs;
  for (const Pair& pair : pairs) logs.push_back(std::log(pair.incumbent_us / pair.candidate_us));
  return std::exp(verifier::statistics::median(std::move(logs)));
}

void check_samples(const verifier::verdicts::WorkloadTiming& timing, const JsonView& view) {
  std::vector<double> candidate, incumbent;
  for (const Pair& pair : timing.pairs) {
    if (!is_time(pair.candidate_us) || !is_time(pair.incumbent_us)) {
      view.fail("the samples of " + timing.workload + " hold what is no time");
    }
    candidate.push_back(pair.candidate_us);
    incumbent.push_back(pair.incumbent_us);
  }
  if (!same(verifier::statistics::median(std::move(candidate)), timing.candidate_us) ||
      !same(verifier::statistics::median(std::move(incumbent)), timing.incumbent_us)) {
    view.fail("the times of " + timing.workload + " are not the medians of its samples");
  }
  if (!same(speed_up_of(verifier::statistics::steady_pairs(timing.pairs)), timing.speed_up.value)) {
    view.fail("the speed-up at " + timing.workload + " is not that of its samples");
  }
}
}  // namespace

void check_figures(const verifier::verdicts::Measurement& m, const JsonView& view) {
  if (m.workloads.empty()) view.fail("is a measurement of no workload");
  std::vector<SpeedUp> parts;
  for (const verifier::verdicts::WorkloadTiming& timing : m.workloads) {
    if (!is_time(timing.candidate_us) || !is_time(timing.incumbent_us) ||
        (timing.bound_us && !(*timing.bound_us >= 0))) {
      view.fail("the times of " + timing.workload + " are none");
    }
    check_interval(timing.speed_up, "at " + timing.workload, view);
    if (!timing.pairs.empty()) check_samples(timing, view);
    parts.push_back(timing.speed_up);
  }
  check_interval(m.speed_up, "over all workloads", view);
  const SpeedUp all = verifier::statistics::combine(parts);
  if (!same(all.value, m.speed_up.value) || !same(all.low, m.speed_up.low) || !same(all.high, m.speed_up.high)) {
    view.fail("the speed-up is not what those of its workloads make together");
  }
  if (verifier::statistics::decide(m.speed_up) != m.outcome) {
    view.fail("is called a " + std::string(name_of(m.outcome)) + ", which its speed-up does not show");
  }
}

}  // namespace results::transfer
