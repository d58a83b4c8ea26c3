// Is the candidate right? The part of a judgement that comes before any timing.
#pragma once

#include <optional>

#include "verifier/cpu/problem_at_hand.h"
#include "verifier/judgement.h"
#include "verifier/keys.h"

namespace verifier::cpu {

// A candidate in a cell.
struct Side {
  sandbox::Solution solution;  // parsed from its header: the judge never sees device code
  sandbox::TunableBinding binding;
  CellClient cell;
};

class Checking {
 public:
  Checking(ProblemAtHand& at_hand, const CheckSettings& settings, Keys& keys)
      : at_hand_(at_hand), settings_(settings), keys_(keys), draw_keys_(keys) {}

  // The checking build on the small listed shapes: bounds, races, uninitialised reads. `benches`: also on those at
  // which candidates are timed, as a kernel may do something else there.
  std::optional<Verdict> check_build(Side& side, bool benches);
  // The fast build on every listed shape and on unseen ones, in three thread orders. `thorough`: all draws and
  // distributions, otherwise one draw of each listed shape. `benches`: as above, one draw, and at
  // unseen shapes of that size.
  std::optional<Verdict> fast_build(Side& side, bool thorough, bool benches);

  const Correct& findings() const { return findings_; }

 private:
  // At shapes of at most so many elements a tensor and operations.
  std::optional<Verdict> unseen(Side& side, int count, int64_t most_elements, int64_t most_flops);
  std::optional<Verdict> shape(Side& side, const std::string& name, const core::Bindings& axes, bool thorough);
  std::optional<Verdict> orders(Rig& rig, const Expected& expected, const Where& where);
  std::optional<Verdict> draw(Rig& rig, const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                              const Where& where, Distribution distribution, sandbox::cpu::runtime::Order order);

  ProblemAtHand& at_hand_;
  CheckSettings settings_;
  Keys& keys_;
  DrawKeys draw_keys_;
  Correct findings_;
};

}  // namespace verifier::cpu
