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

  // A screening takes one draw of every listed test shape. A full check adds the other draws and distributions, one
  // draw of every bench shape, and unseen shapes; a confirmation one of a bench shape's size, too.
  std::optional<Verdict> run(Side& side, Effort effort);

  const Correct& findings() const { return findings_; }

 private:
  std::optional<Verdict> shape(Side& side, const std::string& name, const core::Bindings& axes, bool thorough);
  std::optional<Verdict> unseen(Side& side, int count, int64_t most_elements, int64_t most_flops);
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
