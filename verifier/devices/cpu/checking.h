// Is the candidate right? The part of a judgement that comes before any timing.
#pragma once

#include <optional>

#include "verifier/devices/cpu/oracle.h"
#include "verifier/statistics/keys.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::devices::cpu {

// A candidate in a cell.
struct Contender {
  sandbox::Solution solution;  // parsed from its header: the judge never sees device code
  sandbox::TunableBinding binding;
  CandidateProcess process;
};

class Checking {
 public:
  Checking(Oracle& oracle, const verdicts::CheckSettings& settings, statistics::Keys& keys)
      : oracle_(oracle), settings_(settings), keys_(keys), draw_keys_(keys) {}

  // The checking build on the small listed shapes: bounds, races, uninitialised reads. `benches`: also on those at
  // which candidates are timed, as a kernel may do something else there.
  std::optional<verdicts::Verdict> check_build(Contender& side, bool benches);
  // The fast build on every listed shape and on unseen ones, in three thread orders. `thorough`: all draws and
  // distributions, otherwise one draw of each listed shape. `benches`: as above, one draw, and at
  // unseen shapes of that size.
  std::optional<verdicts::Verdict> fast_build(Contender& side, bool thorough, bool benches);

  const verdicts::Correct& findings() const { return findings_; }

 private:
  // At shapes of at most so many elements a tensor and operations.
  std::optional<verdicts::Verdict> unseen(Contender& side, int count, int64_t most_elements, int64_t most_flops);
  std::optional<verdicts::Verdict> shape(Contender& side, const std::string& name, const core::Bindings& axes,
                                         bool thorough);
  std::optional<verdicts::Verdict> orders(LaunchHarness& harness, const Expected& expected,
                                          const verdicts::Where& where);
  std::optional<verdicts::Verdict> draw(LaunchHarness& harness, const std::vector<LentBuffer>& inputs,
                                        const core::Bindings& axes, const verdicts::Where& where,
                                        draws::Distribution distribution, sandbox::cpu::runtime::Order order);

  Oracle& oracle_;
  verdicts::CheckSettings settings_;
  statistics::Keys& keys_;
  draws::DrawKeys draw_keys_;
  verdicts::Correct findings_;
};

}  // namespace verifier::devices::cpu
