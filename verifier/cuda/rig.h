// One candidate prepared on one shape, and the one path by which every launch of it goes: poison, launch, audit.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "verifier/cuda/cell_client.h"
#include "verifier/cuda/problem_at_hand.h"
#include "verifier/verdict.h"

namespace verifier::cuda {

// Inputs of one shape, once for each slot: short kernels are timed over several slots in a row, each on inputs of its
// own.
using InputSlots = std::vector<std::vector<LentBuffer>>;
using OutputSlots = std::vector<std::vector<LentBuffer>>;

OutputSlots make_output_slots(ProblemAtHand& at_hand, const core::Bindings& axes, size_t slots, Keys& keys);

// A candidate in a cell.
struct Side {
  sandbox::Solution solution;  // parsed from its header: the judge never sees device code
  sandbox::TunableBinding binding;
  CellClient cell;
};

class Rig {
 public:
  // The side, the inputs and the outputs must outlive the rig. A cell serves its newest rig only. Throws
  // core::InputError when the plan cannot be bound to this shape.
  Rig(ProblemAtHand& at_hand, const core::Bindings& axes, const InputSlots& inputs, const OutputSlots& outputs,
      Side& side, Keys& keys);

  // Other outputs of the same form, and workspaces in new places. To be prepared anew.
  void move_to(const OutputSlots& outputs, Keys& keys);
  std::optional<CellFailure> prepare();
  // Poisons outputs, workspaces and slack of the first `slots` slots with patterns of `key`, then launches on each of
  // them. `hot`: does so twice, the second time without flushing the L2 cache.
  std::variant<Launched, CellFailure> launch(size_t slots, bool hot, uint64_t key);
  // Judges what the last launch left behind in a slot: slack first, then each output against what is expected. nullopt:
  // right; `worst_ratio` grows to the largest error relative to what the contract allows.
  std::optional<Verdict> audit(size_t slot, const Expected& expected, const Where& where, double& worst_ratio);
  // The bytes of an output as the last launch left them.
  std::vector<std::byte> fetch(size_t slot, size_t output) const;
  // How far this rig's outputs are from another's of the same problem, shape and inputs.
  double difference_from(const Rig& other, size_t slot) const;

 private:
  std::variant<Launched, CellFailure> launch_once(size_t slots, bool hot, uint64_t key);
  std::variant<Match, Verdict> compare_output(size_t slot, size_t output, const Expected& expected, const Where& where);
  std::vector<const LentBuffer*> writable(size_t slot) const;  // outputs, then workspaces
  std::optional<Verdict> find_damage(size_t slot, const Where& where);

  ProblemAtHand& at_hand_;
  core::Bindings axes_;
  const InputSlots& inputs_;
  Side& side_;
  sandbox::LaunchPlan plan_;
  const OutputSlots* outputs_;
  std::vector<std::vector<LentBuffer>> workspaces_;  // by slot
  uint64_t key_ = 0;
};

}  // namespace verifier::cuda
