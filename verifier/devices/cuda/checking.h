// Is the candidate right? The part of a judgement that comes before any timing.
#pragma once

#include <optional>
#include <string>

#include "verifier/devices/cuda/launch_harness.h"
#include "verifier/statistics/keys.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::devices::cuda {

class Checking {
 public:
  Checking(Oracle& oracle, const verdicts::CheckSettings& settings, statistics::Keys& keys)
      : oracle_(oracle), settings_(settings), keys_(keys), draw_keys_(keys) {}

  // A screening takes one draw of every listed test shape. A full check adds the other draws and distributions, one
  // draw of every bench shape, and unseen shapes; a confirmation one of a bench shape's size, too.
  std::optional<verdicts::Verdict> run(Contender& side, verdicts::Effort effort);

  const verdicts::Correct& findings() const { return findings_; }

 private:
  std::optional<verdicts::Verdict> shape(Contender& side, const std::string& name, const core::Bindings& axes,
                                         bool thorough);
  std::optional<verdicts::Verdict> unseen(Contender& side, int count, int64_t most_elements, int64_t most_flops);
  std::optional<verdicts::Verdict> repeats(LaunchHarness& harness, const InputSlots& inputs, const core::Bindings& axes,
                                           const verdicts::Where& where, int times);
  std::optional<verdicts::Verdict> draw(LaunchHarness& harness, const InputSlots& inputs, const core::Bindings& axes,
                                        const verdicts::Where& where, draws::Distribution distribution);

  Oracle& oracle_;
  verdicts::CheckSettings settings_;
  statistics::Keys& keys_;
  draws::DrawKeys draw_keys_;
  verdicts::Correct findings_;
};

}  // namespace verifier::devices::cuda
