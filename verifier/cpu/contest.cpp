#include "verifier/cpu/contest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "verifier/statistics.h"

namespace verifier::cpu {
namespace {
using sandbox::cpu::Order;
constexpr int kPings = 21;
constexpr double kLeastTime_us = 0.1;  // what is left of a sample after the empty request is never nothing

// One side: its rig, and the median time of an empty request to it.
struct Corner {
  Rig rig;
  double empty_us = 0;

  std::optional<CellFailure> prepare(Side& side) {
    if (auto failure = rig.prepare()) return failure;
    std::vector<double> times;
    for (int i = 0; i < kPings; ++i) {
      double elapsed_us = 0;
      if (auto failure = side.cell.ping(elapsed_us)) return failure;
      times.push_back(elapsed_us);
    }
    empty_us = median(times);
    return std::nullopt;
  }
};

class CpuContest : public Contest {
 public:
  CpuContest(ProblemAtHand& at_hand, const core::Bindings& axes, Side& candidate, Side& incumbent)
      : at_hand_(at_hand),
        axes_(axes),
        inputs_(make_inputs(at_hand.problem(), axes)),
        candidate_(corner(candidate)),
        incumbent_(corner(incumbent)) {}

  Corner& candidate() { return candidate_; }
  Corner& incumbent() { return incumbent_; }

  void draw(uint64_t key, Distribution distribution) override {
    drawn_as_ = distribution;
    at_hand_.fill(inputs_, axes_, distribution, key);
  }

  std::variant<Sample, CellFailure> launch(Contestant side, uint64_t key) override {
    Corner& corner = side == Contestant::candidate ? candidate_ : incumbent_;
    Sample sample;
    if (auto failure = corner.rig.launch(Order::timed, key, sample.us)) return std::move(*failure);
    sample.us = std::max(sample.us - corner.empty_us, kLeastTime_us);
    return sample;
  }

  double difference() override { return candidate_.rig.difference_from(incumbent_.rig); }

  std::optional<Verdict> audit(const Where& where) override {
    double worst_ratio = 0;
    return candidate_.rig.audit(at_hand_.expected(inputs_, axes_, drawn_as_), where, worst_ratio);
  }

 private:
  Corner corner(Side& side) {
    return {Rig(at_hand_.problem(), axes_, inputs_, side.cell, side.solution, side.binding)};
  }

  ProblemAtHand& at_hand_;
  core::Bindings axes_;
  std::vector<LentBuffer> inputs_;
  Distribution drawn_as_ = Distribution::ordinary;
  Corner candidate_, incumbent_;
};
}  // namespace

std::variant<Verdict, std::unique_ptr<Contest>> open_contest(ProblemAtHand& at_hand, const core::Bindings& axes,
                                                             Side& candidate, Side& incumbent) {
  auto contest = std::make_unique<CpuContest>(at_hand, axes, candidate, incumbent);
  if (const auto failure = contest->candidate().prepare(candidate)) return verdict_of(*failure, {});
  if (const auto failure = contest->incumbent().prepare(incumbent)) {
    throw core::SystemError("the incumbent failed before it was timed: " +
                            sentence_for_people(verdict_of(*failure, {})));
  }
  return std::unique_ptr<Contest>(std::move(contest));
}

}  // namespace verifier::cpu
