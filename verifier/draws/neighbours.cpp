#include "verifier/draws/neighbours.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "verifier/draws/elements.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {

uint64_t neighbours_wanted(const benchsuite::Problem& problem, const core::Bindings& axes) {
  constexpr int64_t kFewRows = 8, kShortRow = 8, kMostElements = int64_t{1} << 14, kMostInShortRows = int64_t{1} << 19;
  int64_t most_inputs = 0;
  for (const benchsuite::Tensor& tensor : problem.inputs) most_inputs = std::max(most_inputs, tensor.elements(axes));
  const auto few_rows = [&](const benchsuite::Tensor& tensor) {
    const int64_t elements = tensor.elements(axes);
    return tensor.tolerates_rounding() && elements < kFewRows * tensor.shape.back().eval(axes) &&
           (tensor.shape.size() > 1 || elements < most_inputs || elements < kFewRows);
  };
  const auto short_rows = [&](const benchsuite::Tensor& tensor) {
    return tensor.tolerates_rounding() && tensor.shape.size() > 1 && tensor.shape.back().eval(axes) < kShortRow;
  };
  const auto any = [&](const auto& what) { return std::any_of(problem.outputs.begin(), problem.outputs.end(), what); };
  if (most_inputs <= kMostElements && (any(few_rows) || any(short_rows))) return 8;
  return most_inputs <= kMostInShortRows && any(short_rows) ? 4 : 0;
}

void sway_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                double amplitude, uint64_t key) {
  constexpr double kMostCycles = 2;
  const core::DType dtype = tensor.dtype;
  if (!core::is_floating(dtype) || tensor.init.kind == benchsuite::Init::integers ||
      tensor.init.has_structured_rows()) {
    return;
  }
  statistics::Keys keys(key);
  double phase = 2 * std::numbers::pi * keys.unit();
  std::vector<int64_t> extents;
  std::vector<double> steps;  // of the phase, along each dimension
  for (const core::Expr& extent : tensor.shape) {
    extents.push_back(extent.eval(axes));
    steps.push_back(2 * std::numbers::pi * kMostCycles * keys.unit() / static_cast<double>(extents.back()));
  }
  const size_t elements = bytes.size() / core::size_bytes(dtype);
  std::vector<int64_t> place(extents.size());
  for (size_t i = 0; i < elements; ++i) {
    const double value = load_element(dtype, bytes, i);
    store_element(dtype, bytes, i, value * (1 + amplitude * std::cos(phase)));
    for (size_t d = extents.size(); d-- > 0;) {
      phase += steps[d];
      if (++place[d] < extents[d]) break;
      phase -= steps[d] * static_cast<double>(extents[d]);
      place[d] = 0;
    }
  }
}

}  // namespace verifier::draws
