#include "verifier/cpu/problem_at_hand.h"

#include <algorithm>

#include "verifier/keys.h"

namespace verifier::cpu {
namespace {
constexpr uint64_t kNeighbours = 8;
}

void ProblemAtHand::fill(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, Distribution distribution,
                         uint64_t key) const {
  Keys keys(key);
  for (size_t i = 0; i < inputs.size(); ++i) {
    fill_input(inputs[i].memory.content(), problem_.inputs[i], axes, distribution, keys.next());
  }
}

Expected ProblemAtHand::expected(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                                 Distribution distribution) {
  Expected expected{reference_.run(problem_, axes, inputs),
                    naive_.run(problem_, axes, inputs),
                    distribution == Distribution::exact,
                    {}};
  if (expected.exact || !wants_neighbours(axes)) return expected;
  for (uint64_t key = 0; key < kNeighbours; ++key) {
    const std::vector<LentBuffer> moved = jittered(inputs, axes, key);
    expected.neighbours.push_back(
        {reference_.run(problem_, axes, moved), naive_.run(problem_, axes, moved), false, {}});
  }
  return expected;
}

// Few rows, whose elements share the error of a sum, and so small that the neighbours cost next to nothing. The
// elements of a vector that sums nothing err each for itself.
bool ProblemAtHand::wants_neighbours(const core::Bindings& axes) const {
  constexpr int64_t kFewRows = 8, kMostElements = 16384;
  int64_t most_inputs = 0;
  for (const benchsuite::Tensor& tensor : problem_.inputs) most_inputs = std::max(most_inputs, tensor.elements(axes));
  const auto few_rows = [&](const benchsuite::Tensor& tensor) {
    const int64_t elements = tensor.elements(axes);
    return core::is_floating(tensor.dtype) && elements < kFewRows * tensor.shape.back().eval(axes) &&
           (tensor.shape.size() > 1 || elements < most_inputs);
  };
  return most_inputs <= kMostElements && std::any_of(problem_.outputs.begin(), problem_.outputs.end(), few_rows);
}

std::vector<LentBuffer> ProblemAtHand::jittered(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                                                uint64_t key) const {
  std::vector<LentBuffer> moved = make_inputs(problem_, axes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::span<const std::byte> from = inputs[i].memory.content();
    const std::span<std::byte> to = moved[i].memory.content();
    std::copy(from.begin(), from.end(), to.begin());
    jitter_input(to, problem_.inputs[i], key * inputs.size() + i);
  }
  return moved;
}

}  // namespace verifier::cpu
