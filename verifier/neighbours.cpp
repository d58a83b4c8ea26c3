#include "verifier/neighbours.h"

#include <algorithm>

namespace verifier {

bool wants_neighbours(const benchsuite::Problem& problem, const core::Bindings& axes) {
  constexpr int64_t kFewRows = 8, kMostElements = 16384;
  int64_t most_inputs = 0;
  for (const benchsuite::Tensor& tensor : problem.inputs) most_inputs = std::max(most_inputs, tensor.elements(axes));
  const auto few_rows = [&](const benchsuite::Tensor& tensor) {
    const int64_t elements = tensor.elements(axes);
    return core::is_floating(tensor.dtype) && elements < kFewRows * tensor.shape.back().eval(axes) &&
           (tensor.shape.size() > 1 || elements < most_inputs);
  };
  return most_inputs <= kMostElements && std::any_of(problem.outputs.begin(), problem.outputs.end(), few_rows);
}

}  // namespace verifier
