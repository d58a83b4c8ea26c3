#include "verifier/cuda/problem_at_hand.h"

#include <utility>

#include "verifier/keys.h"
#include "verifier/neighbours.h"

namespace verifier::cuda {
using sandbox::cuda::PrivateMemory;

void ProblemAtHand::fill(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, Distribution distribution,
                         uint64_t key) {
  Keys keys(key);
  for (size_t i = 0; i < inputs.size(); ++i) {
    work_.fill(inputs[i].buffer().address, problem_.inputs[i], axes, distribution, keys.next());
  }
  context_.synchronize();
}

Expected ProblemAtHand::expected(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                                 Distribution distribution) {
  Expected expected;
  expected.exact = distribution == Distribution::exact;
  if (!expected.exact && wants_neighbours(problem_, axes)) add_neighbours(expected, inputs, axes);
  const std::vector<DeviceBuffer> lent = device_buffers(inputs);
  expected.reference = reference_.run(problem_, axes, lent);
  expected.naive = naive_.run(problem_, axes, lent);
  context_.synchronize();
  return expected;
}

void ProblemAtHand::add_neighbours(Expected& expected, const std::vector<LentBuffer>& inputs,
                                   const core::Bindings& axes) {
  std::vector<std::vector<std::byte>> content;
  std::vector<PrivateMemory> memory;
  std::vector<DeviceBuffer> moved;
  for (const LentBuffer& input : inputs) {
    const DeviceBuffer& buffer = input.buffer();
    content.emplace_back(buffer.bytes);
    context_.copy_to_host(content.back().data(), buffer.address, buffer.bytes);
    memory.emplace_back(context_, buffer.bytes);
    moved.push_back({buffer.name, memory.back().address(), buffer.bytes});
  }
  for (uint64_t key = 0; key < kNeighbours; ++key) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::vector<std::byte> jittered = content[i];
      jitter_input(jittered, problem_.inputs[i], key * inputs.size() + i);
      context_.copy_to_device(moved[i].address, jittered.data(), jittered.size());
    }
    Expected::Neighbour neighbour;
    reference_.run(problem_, axes, moved);
    neighbour.reference = reference_.fetch();
    naive_.run(problem_, axes, moved);
    neighbour.naive = naive_.fetch();
    expected.neighbours.push_back(std::move(neighbour));
  }
}

}  // namespace verifier::cuda
