// One candidate prepared on one shape, and the one path by which every launch of it goes: poison, launch, audit.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "verifier/devices/cuda/candidate_process.h"
#include "verifier/devices/cuda/oracle.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::devices::cuda {

// Inputs of one shape, once for each slot: short kernels are timed over several slots in a row, each on inputs of its
// own.
using InputSlots = std::vector<std::vector<LentBuffer>>;
using OutputSlots = std::vector<std::vector<LentBuffer>>;

OutputSlots make_output_slots(Oracle& oracle, const core::Bindings& axes, size_t slots, statistics::Keys& keys);

// A candidate in a cell.
struct Contender {
  sandbox::Solution solution;  // parsed from its header: the judge never sees device code
  sandbox::TunableBinding binding;
  CandidateProcess process;
};

class LaunchHarness {
 public:
  // The side, the inputs and the outputs must outlive the harness. A cell serves its newest harness only. Throws
  // core::InputError when the plan cannot be bound to this shape.
  LaunchHarness(Oracle& oracle, const core::Bindings& axes, const InputSlots& inputs, const OutputSlots& outputs,
                Contender& side, statistics::Keys& keys);

  // Other outputs of the same form, and workspaces in new places. To be prepared anew.
  void move_to(const OutputSlots& outputs, statistics::Keys& keys);
  std::optional<judging::ProcessFailure> prepare();
  // Poisons outputs, workspaces and slack of the first `slots` slots with patterns of `key`, then launches on each of
  // them. `hot`: does so twice, the second time without flushing the L2 cache.
  std::variant<Launched, judging::ProcessFailure> launch(size_t slots, bool hot, uint64_t key);
  // Judges what the last launch left behind in a slot: slack first, then each output against what is expected. nullopt:
  // right; `worst_ratio` grows to the largest error relative to what the contract allows.
  std::optional<verdicts::Verdict> audit(size_t slot, const Expected& expected, const verdicts::Where& where,
                                         double& worst_ratio);
  // The bytes of an output as the last launch left them.
  std::vector<std::byte> fetch(size_t slot, size_t output) const;
  // How far this harness's outputs are from another's of the same problem, shape and inputs.
  double difference_from(const LaunchHarness& other, size_t slot) const;

 private:
  std::variant<Launched, judging::ProcessFailure> launch_once(size_t slots, bool hot, uint64_t key);
  std::variant<comparison::Match, verdicts::Verdict> compare_output(size_t slot, size_t output,
                                                                    const Expected& expected,
                                                                    const verdicts::Where& where);
  std::vector<const LentBuffer*> writable(size_t slot) const;  // outputs, then workspaces
  std::optional<verdicts::Verdict> find_damage(size_t slot, const verdicts::Where& where);

  Oracle& oracle_;
  core::Bindings axes_;
  const InputSlots& inputs_;
  Contender& side_;
  sandbox::LaunchPlan plan_;
  const OutputSlots* outputs_;
  std::vector<std::vector<LentBuffer>> workspaces_;  // by slot
  uint64_t key_ = 0;
};

}  // namespace verifier::devices::cuda
