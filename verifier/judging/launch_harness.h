// One candidate prepared on one shape, and the only path to a launch of it: poison, launch, audit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "verifier/draws/reach.h"
#include "verifier/draws/source/numbers.h"
#include "verifier/judging/oracle.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::judging {

// Buffers of one shape, once for each slot: short kernels are timed over several slots in a row, each on inputs of its
// own.
using Slots = std::vector<LentBuffers>;

Slots make_output_slots(Oracle& oracle, const core::Bindings& axes, size_t slots, statistics::Keys& keys);

// A candidate in its process.
struct Contender {
  sandbox::Solution solution;  // parsed from its header: the judge never sees device code
  sandbox::TunableBinding binding;
  std::unique_ptr<CandidateProcess> process;
  draws::source::SourceNumbers numbers = {};  // at which it may change its ways

  draws::Plan plan() const { return {solution, binding}; }
};

class LaunchHarness {
 public:
  // The contender, the inputs and the outputs must outlive it. A process serves its newest harness only. Throws
  // core::InputError when the plan cannot be bound to this shape.
  LaunchHarness(Oracle& oracle, const core::Bindings& axes, const Slots& inputs, const Slots& outputs,
                Contender& contender, statistics::Keys& keys);

  // Other outputs of the same form, and workspaces in new places. prepare() must follow.
  void move_to(const Slots& outputs, statistics::Keys& keys);
  std::optional<ProcessFailure> prepare();
  // Poisons outputs, workspaces and slack of the requested slots with patterns of `key`, then launches on each of them.
  // A hot launch follows one like it, poisoned alike, so that the candidate cannot know which one counts.
  std::variant<Launched, ProcessFailure> launch(LaunchRequest request, uint64_t key);
  // The same, untimed; see CandidateProcess::launch_beside().
  std::variant<Launched, ProcessFailure> launch_beside(const LaunchRequest& request, uint64_t key,
                                                       const std::function<void()>& meanwhile);
  // Judges what the last launch left behind in a slot: slack first, then each output. nullopt: right; `worst_ratio`
  // grows to the largest error relative to what the contract allows.
  std::optional<verdicts::Verdict> audit(size_t slot, const Expected& expected, const verdicts::Where& where,
                                         double& worst_ratio);
  // The bytes of all outputs as the last launch left them.
  TensorBytes fetch(size_t slot) const;
  // The distance of this harness's outputs from another's of the same problem, shape and inputs.
  double difference_from(const LaunchHarness& other, size_t slot) const;

 private:
  LaunchRequest poisoned(LaunchRequest request, uint64_t key);
  std::vector<LentBuffer*> writable(size_t slot) const;  // outputs, then workspaces

  Oracle& oracle_;
  core::Bindings axes_;
  const Slots& inputs_;
  Contender& contender_;
  sandbox::LaunchPlan plan_;
  const Slots* outputs_;
  Slots workspaces_;
  uint64_t key_ = 0;
};

}  // namespace verifier::judging
