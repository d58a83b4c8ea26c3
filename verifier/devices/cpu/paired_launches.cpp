#include "verifier/devices/cpu/paired_launches.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "verifier/statistics/statistics.h"

namespace verifier::devices::cpu {
namespace {
using sandbox::cpu::runtime::Order;
constexpr int kPings = 21;
constexpr double kLeastTime_us = 0.1;  // what is left of a sample after the empty request is never nothing

// Sets `empty_us` to the median time of an empty request to `side`, if that is less.
std::optional<judging::ProcessFailure> prepare(LaunchHarness& harness, Contender& side, double& empty_us) {
  if (auto failure = harness.prepare()) return failure;
  std::vector<double> times;
  for (int i = 0; i < kPings; ++i) {
    double elapsed_us = 0;
    if (auto failure = side.process.ping(elapsed_us)) return failure;
    times.push_back(elapsed_us);
  }
  empty_us = std::min(empty_us, statistics::median(times));
  return std::nullopt;
}

class CpuPairedLaunches : public judging::PairedLaunches {
 public:
  CpuPairedLaunches(Oracle& oracle, const core::Bindings& axes, Contender& candidate, Contender& incumbent)
      : oracle_(oracle),
        axes_(axes),
        inputs_(make_inputs(oracle.problem(), axes)),
        candidate_(make_harness(candidate)),
        incumbent_(make_harness(incumbent)) {}

  std::optional<judging::ProcessFailure> prepare_candidate(Contender& side) {
    return prepare(candidate_, side, empty_us_);
  }
  std::optional<judging::ProcessFailure> prepare_incumbent(Contender& side) {
    return prepare(incumbent_, side, empty_us_);
  }

  void draw(uint64_t key, draws::Distribution distribution) override {
    drawn_as_ = distribution;
    oracle_.fill(inputs_, axes_, distribution, key);
  }

  std::variant<judging::TimingSample, judging::ProcessFailure> launch(judging::Side side, uint64_t key) override {
    LaunchHarness& harness = side == judging::Side::candidate ? candidate_ : incumbent_;
    judging::TimingSample sample;
    if (auto failure = harness.launch(Order::timed, key, sample.us)) return std::move(*failure);
    sample.us = std::max(sample.us - empty_us_, kLeastTime_us);
    return sample;
  }

  double difference() override { return candidate_.difference_from(incumbent_); }

  std::optional<verdicts::Verdict> audit(const verdicts::Where& where) override {
    double worst_ratio = 0;
    return candidate_.audit(oracle_.expected(inputs_, axes_, drawn_as_), where, worst_ratio);
  }

 private:
  LaunchHarness make_harness(Contender& side) {
    return {oracle_.problem(), axes_, inputs_, side.process, side.solution, side.binding};
  }

  Oracle& oracle_;
  core::Bindings axes_;
  std::vector<LentBuffer> inputs_;
  draws::Distribution drawn_as_ = draws::Distribution::ordinary;
  LaunchHarness candidate_, incumbent_;
  // Taken off both sides' times, and what the faster of them needs: native code that answers empty requests slowly
  // would else be credited for it with every launch.
  double empty_us_ = std::numeric_limits<double>::infinity();
};
}  // namespace

std::variant<verdicts::Verdict, std::unique_ptr<judging::PairedLaunches>> open_paired_launches(
    Oracle& oracle, const core::Bindings& axes, Contender& candidate, Contender& incumbent) {
  auto launches = std::make_unique<CpuPairedLaunches>(oracle, axes, candidate, incumbent);
  if (const auto failure = launches->prepare_candidate(candidate)) return judging::verdict_of(*failure, {});
  if (const auto failure = launches->prepare_incumbent(incumbent)) {
    throw core::SystemError("the incumbent failed before it was timed: " +
                            verdicts::sentence_for_people(judging::verdict_of(*failure, {})));
  }
  return std::unique_ptr<judging::PairedLaunches>(std::move(launches));
}

}  // namespace verifier::devices::cpu
