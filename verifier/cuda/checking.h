// Is the candidate right? The part of a judgement that comes before any timing.
#pragma once

#include <optional>
#include <string>

#include "verifier/cuda/rig.h"
#include "verifier/judgement.h"
#include "verifier/keys.h"

namespace verifier::cuda {

class Checking {
 public:
  Checking(ProblemAtHand& at_hand, const CheckSettings& settings, Keys& keys)
      : at_hand_(at_hand), settings_(settings), keys_(keys), draw_keys_(keys) {}

  // Every listed test shape, and one draw of every bench shape; `thorough`: all draws and distributions and unseen
  // shapes, otherwise one draw of each.
  std::optional<Verdict> run(Side& side, bool thorough);

  const Correct& findings() const { return findings_; }

 private:
  std::optional<Verdict> shape(Side& side, const std::string& name, const core::Bindings& axes, bool thorough);
  std::optional<Verdict> repeats(Rig& rig, const InputSlots& inputs, const core::Bindings& axes, const Where& where,
                                 int times);
  std::optional<Verdict> draw(Rig& rig, const InputSlots& inputs, const core::Bindings& axes, const Where& where,
                              Distribution distribution);

  ProblemAtHand& at_hand_;
  CheckSettings settings_;
  Keys& keys_;
  DrawKeys draw_keys_;
  Correct findings_;
};

}  // namespace verifier::cuda
