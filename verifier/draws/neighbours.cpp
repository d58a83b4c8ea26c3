#include "verifier/draws/neighbours.h"

#include <algorithm>

namespace verifier::draws {

uint64_t neighbours_wanted(const benchsuite::Problem& problem, const core::Bindings& axes) {
  constexpr int64_t kFewRows = 8, kShortRow = 8, kMostElements = int64_t{1} << 14, kMostInShortRows = int64_t{1} << 19;
  int64_t most_inputs = 0;
  for (const benchsuite::Tensor& tensor : problem.inputs) most_inputs = std::max(most_inputs, tensor.elements(axes));
  const auto is_floating = [](const benchsuite::Tensor& tensor) { return core::is_floating(tensor.dtype); };
  const auto few_rows = [&](const benchsuite::Tensor& tensor) {
    const int64_t elements = tensor.elements(axes);
    return is_floating(tensor) && elements < kFewRows * tensor.shape.back().eval(axes) &&
           (tensor.shape.size() > 1 || elements < most_inputs);
  };
  const auto short_rows = [&](const benchsuite::Tensor& tensor) {
    return is_floating(tensor) && tensor.shape.size() > 1 && tensor.shape.back().eval(axes) < kShortRow;
  };
  const auto any = [&](const auto& what) { return std::any_of(problem.outputs.begin(), problem.outputs.end(), what); };
  if (most_inputs <= kMostElements && (any(few_rows) || any(short_rows))) return 8;
  return most_inputs <= kMostInShortRows && any(short_rows) ? 4 : 0;
}

}  // namespace verifier::draws
