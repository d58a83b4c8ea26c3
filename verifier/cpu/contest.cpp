#include "verifier/cpu/contest.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "verifier/statistics.h"

namespace verifier::cpu {
namespace {
using sandbox::cpu::runtime::Order;
constexpr int kPings = 21;
constexpr double kLeastTime_us = 0.1;  // what is left of a sample after the empty request is never nothing

// Sets `empty_us` to the median time of an empty request to `side`, if that is less.
std::optional<CellFailure> prepare(Rig& rig, Side& side, double& empty_us) {
  if (auto failure = rig.prepare()) return failure;
  std::vector<double> times;
  for (int i = 0; i < kPings; ++i) {
    double elapsed_us = 0;
    if (auto failure = side.cell.ping(elapsed_us)) return failure;
    times.push_back(elapsed_us);
  }
  empty_us = std::min(empty_us, median(times));
  return std::nullopt;
}

class CpuContest : public Contest {
 public:
  CpuContest(ProblemAtHand& at_hand, const core::Bindings& axes, Side& candidate, Side& incumbent)
      : at_hand_(at_hand),
        axes_(axes),
        inputs_(make_inputs(at_hand.problem(), axes)),
        candidate_(make_rig(candidate)),
        incumbent_(make_rig(incumbent)) {}

  std::optional<CellFailure> prepare_candidate(Side& side) { return prepare(candidate_, side, empty_us_); }
  std::optional<CellFailure> prepare_incumbent(Side& side) { return prepare(incumbent_, side, empty_us_); }

  void draw(uint64_t key, Distribution distribution) override {
    drawn_as_ = distribution;
    at_hand_.fill(inputs_, axes_, distribution, key);
  }

  std::variant<TimingSample, CellFailure> launch(Contestant side, uint64_t key) override {
    Rig& rig = side == Contestant::candidate ? candidate_ : incumbent_;
    TimingSample sample;
    if (auto failure = rig.launch(Order::timed, key, sample.us)) return std::move(*failure);
    sample.us = std::max(sample.us - empty_us_, kLeastTime_us);
    return sample;
  }

  double difference() override { return candidate_.difference_from(incumbent_); }

  std::optional<Verdict> audit(const Where& where) override {
    double worst_ratio = 0;
    return candidate_.audit(at_hand_.expected(inputs_, axes_, drawn_as_), where, worst_ratio);
  }

 private:
  Rig make_rig(Side& side) { return {at_hand_.problem(), axes_, inputs_, side.cell, side.solution, side.binding}; }

  ProblemAtHand& at_hand_;
  core::Bindings axes_;
  std::vector<LentBuffer> inputs_;
  Distribution drawn_as_ = Distribution::ordinary;
  Rig candidate_, incumbent_;
  // Taken off both sides' times, and what the faster of them needs: native code that answers empty requests slowly
  // would else be credited for it with every launch.
  double empty_us_ = std::numeric_limits<double>::infinity();
};
}  // namespace

std::variant<Verdict, std::unique_ptr<Contest>> open_contest(ProblemAtHand& at_hand, const core::Bindings& axes,
                                                             Side& candidate, Side& incumbent) {
  auto contest = std::make_unique<CpuContest>(at_hand, axes, candidate, incumbent);
  if (const auto failure = contest->prepare_candidate(candidate)) return verdict_of(*failure, {});
  if (const auto failure = contest->prepare_incumbent(incumbent)) {
    throw core::SystemError("the incumbent failed before it was timed: " +
                            sentence_for_people(verdict_of(*failure, {})));
  }
  return std::unique_ptr<Contest>(std::move(contest));
}

}  // namespace verifier::cpu
