#include "verifier/devices/cpu/oracle.h"

#include <algorithm>

#include "verifier/draws/neighbours.h"
#include "verifier/statistics/keys.h"

namespace verifier::devices::cpu {
void Oracle::fill(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, draws::Distribution distribution,
                  uint64_t key) const {
  statistics::Keys keys(key);
  for (size_t i = 0; i < inputs.size(); ++i) {
    draws::fill_input(inputs[i].memory.content(), problem_.inputs[i], axes, distribution, draws::tensor_key(keys, key));
  }
}

Expected Oracle::expected(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                          draws::Distribution distribution) {
  Expected expected{reference_.run(problem_, axes, inputs), naive_.run(problem_, axes, inputs), distribution, {}};
  const uint64_t wanted = draws::is_exact(distribution) ? 0 : draws::neighbours_wanted(problem_, axes);
  for (uint64_t neighbour = 0; neighbour < wanted; ++neighbour) {
    const std::vector<LentBuffer> moved = jittered(inputs, axes, neighbour);
    expected.neighbours.push_back(
        {reference_.run(problem_, axes, moved), naive_.run(problem_, axes, moved), distribution, {}});
  }
  return expected;
}

judging::TrustedOutputs Oracle::run_trusted(const core::Bindings& axes, const judging::TensorBytes& inputs) {
  const std::vector<LentBuffer> lent = make_inputs(problem_, axes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::copy(inputs[i].begin(), inputs[i].end(), lent[i].memory.content().begin());
  }
  return {reference_.run(problem_, axes, lent), naive_.run(problem_, axes, lent)};
}

std::vector<LentBuffer> Oracle::jittered(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                                         uint64_t neighbour) const {
  std::vector<LentBuffer> moved = make_inputs(problem_, axes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::span<const std::byte> from = inputs[i].memory.content();
    const std::span<std::byte> to = moved[i].memory.content();
    std::copy(from.begin(), from.end(), to.begin());
    draws::jitter_input(to, problem_.inputs[i], neighbour, neighbour * inputs.size() + i);
  }
  return moved;
}

}  // namespace verifier::devices::cpu
