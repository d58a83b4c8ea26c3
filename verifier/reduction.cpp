#include "verifier/reduction.h"

#include <algorithm>
#include <cmath>

#include "verifier/elements.h"

namespace verifier {
namespace {
constexpr double kMostTermsInOneThread = 4096;
constexpr size_t kSampled = 65536;

// RMS of the finite elements.
double rms_of(core::DType dtype, std::span<const std::byte> bytes) {
  const size_t elements = bytes.size() / core::size_bytes(dtype);
  const size_t step = std::max<size_t>(1, elements / kSampled) | 1;  // odd: it walks through all columns
  double squares = 0, count = 0;
  for (size_t i = 0; i < elements; i += step) {
    const double value = load_element(dtype, bytes, i);
    if (!std::isfinite(value)) continue;
    squares += value * value;
    ++count;
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}
}  // namespace

Reduction reduction_of(const benchsuite::Problem& problem, const core::Bindings& axes, const benchsuite::Tensor& output,
                       const std::vector<std::span<const std::byte>>& inputs) {
  int64_t most_inputs = 0;
  for (const benchsuite::Tensor& tensor : problem.inputs) most_inputs = std::max(most_inputs, tensor.elements(axes));
  Reduction reduction{static_cast<double>(most_inputs) / static_cast<double>(output.elements(axes)), 0};
  if (reduction.terms <= 1) return reduction;
  double largest = 0, product = 1;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    if (!core::is_floating(problem.inputs[i].dtype)) continue;
    const double rms = rms_of(problem.inputs[i].dtype, inputs[i]);
    largest = std::max(largest, rms);
    product *= rms;
  }
  reduction.partial_sum = std::sqrt(reduction.terms) * (largest > 0 ? std::max(largest, product) : 0);
  return reduction;
}

double honest_error(const Reduction& reduction, core::DType accumulate, double scale) {
  if (reduction.terms <= 1) return 0;
  return std::sqrt(std::min(reduction.terms, kMostTermsInOneThread)) * ulp_at(accumulate, 1) *
         std::max(reduction.partial_sum, scale);
}

}  // namespace verifier
