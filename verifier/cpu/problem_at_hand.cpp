#include "verifier/cpu/problem_at_hand.h"

#include <algorithm>

#include "verifier/keys.h"
#include "verifier/neighbours.h"

namespace verifier::cpu {
void ProblemAtHand::fill(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, Distribution distribution,
                         uint64_t key) const {
  Keys keys(key);
  for (size_t i = 0; i < inputs.size(); ++i) {
    fill_input(inputs[i].memory.content(), problem_.inputs[i], axes, distribution, tensor_key(keys, key));
  }
}

Expected ProblemAtHand::expected(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                                 Distribution distribution) {
  Expected expected{reference_.run(problem_, axes, inputs), naive_.run(problem_, axes, inputs), distribution, {}};
  const uint64_t wanted = is_exact(distribution) ? 0 : neighbours_wanted(problem_, axes);
  for (uint64_t neighbour = 0; neighbour < wanted; ++neighbour) {
    const std::vector<LentBuffer> moved = jittered(inputs, axes, neighbour);
    expected.neighbours.push_back(
        {reference_.run(problem_, axes, moved), naive_.run(problem_, axes, moved), distribution, {}});
  }
  return expected;
}

TrustedOutputs ProblemAtHand::run_trusted(const core::Bindings& axes, const TensorBytes& inputs) {
  const std::vector<LentBuffer> lent = make_inputs(problem_, axes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::copy(inputs[i].begin(), inputs[i].end(), lent[i].memory.content().begin());
  }
  return {reference_.run(problem_, axes, lent), naive_.run(problem_, axes, lent)};
}

std::vector<LentBuffer> ProblemAtHand::jittered(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                                                uint64_t neighbour) const {
  std::vector<LentBuffer> moved = make_inputs(problem_, axes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::span<const std::byte> from = inputs[i].memory.content();
    const std::span<std::byte> to = moved[i].memory.content();
    std::copy(from.begin(), from.end(), to.begin());
    jitter_input(to, problem_.inputs[i], neighbour, neighbour * inputs.size() + i);
  }
  return moved;
}

}  // namespace verifier::cpu
