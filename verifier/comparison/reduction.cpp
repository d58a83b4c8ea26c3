#include "verifier/comparison/reduction.h"

#include <algorithm>
#include <cmath>

#include "verifier/draws/elements.h"

namespace verifier::comparison {
namespace {
constexpr double kMostTermsInOneThread = 4096;
constexpr double kFewTerms = 16;
constexpr int64_t kSampled = 65536;

// The RMS that the problem's init says. An outlier or a patch makes its own outputs large, which their size shows: it
// must not excuse errors of all others.
double ordinary_rms(const benchsuite::InputInit& init) {
  if (init.kind != benchsuite::Init::uniform) return init.scale;
  return std::sqrt((init.low * init.low + init.low * init.high + init.high * init.high) / 3);
}
}  // namespace

double rms_of(const Moments& moments) {
  return moments.count > 0 ? std::sqrt(moments.squares / static_cast<double>(moments.count)) : 0;
}

int64_t sample_step(int64_t elements) { return std::max<int64_t>(1, elements / kSampled) | 1; }

Moments moments_of(core::DType dtype, std::span<const std::byte> bytes) {
  const size_t elements = bytes.size() / core::size_bytes(dtype);
  const auto step = static_cast<size_t>(sample_step(static_cast<int64_t>(elements)));
  Moments moments;
  for (size_t i = 0; i < elements; i += step) {
    const double value = draws::load_element(dtype, bytes, i);
    if (!std::isfinite(value)) continue;
    moments.squares += value * value;
    ++moments.count;
  }
  return moments;
}

Reduction reduction_of(const benchsuite::Problem& problem, const core::Bindings& axes, const benchsuite::Tensor& output,
                       draws::Distribution distribution, const std::vector<Moments>& inputs) {
  // One term makes the sum, or some eight, and a few steps follow. A normalisation adds terms that those made, all
  // alike: the squares of a mean.
  if (distribution == draws::Distribution::few || distribution == draws::Distribution::dominant) {
    const double made = problem.contract.sums ? static_cast<double>(problem.contract.sums->eval(axes)) : 0;
    return {std::max(kFewTerms, made), 0, true, true};
  }
  int64_t most_inputs = 0;
  for (const benchsuite::Tensor& tensor : problem.inputs) most_inputs = std::max(most_inputs, tensor.elements(axes));
  const auto outputs = static_cast<double>(output.elements(axes));
  const bool alike = draws::rounds_alike(distribution);
  Reduction reduction{static_cast<double>(most_inputs) / outputs, 0, alike,
                      alike || distribution == draws::Distribution::alike};
  if (problem.contract.exact_integers) {  // an addition and a product a term
    reduction.terms = std::max(reduction.terms, static_cast<double>(problem.cost.flops.eval(axes)) / 2 / outputs);
  }
  if (problem.contract.sums) {  // of terms that are not the inputs: only the output tells how large they become
    reduction.terms = static_cast<double>(problem.contract.sums->eval(axes));
    reduction.known_terms = true;
    return reduction;
  }
  if (reduction.terms <= 1) return reduction;
  double largest = 0, product = 1;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    if (!core::is_floating(problem.inputs[i].dtype)) continue;
    const benchsuite::InputInit& init = problem.inputs[i].init;
    const bool patched = draws::may_overflow(distribution) && !init.has_structured_rows();
    const double rms = patched ? ordinary_rms(init) : rms_of(inputs[i]);
    largest = std::max(largest, rms);
    product *= rms;
  }
  reduction.partial_sum = std::sqrt(reduction.terms) * (largest > 0 ? std::max(largest, product) : 0);
  return reduction;
}

Reduction reduction_of(const benchsuite::Problem& problem, const core::Bindings& axes, const benchsuite::Tensor& output,
                       draws::Distribution distribution, const std::vector<std::span<const std::byte>>& inputs) {
  std::vector<Moments> moments;
  for (size_t i = 0; i < inputs.size(); ++i) moments.push_back(moments_of(problem.inputs[i].dtype, inputs[i]));
  return reduction_of(problem, axes, output, distribution, moments);
}

double rounding_of_sums(const Reduction& reduction, core::DType accumulate) {
  if (reduction.terms <= 1) return 0;
  const double terms = std::min(reduction.terms, kMostTermsInOneThread);
  const double ulps = reduction.alike ? std::max(std::sqrt(terms), terms / 4) : std::sqrt(terms);
  return ulps * draws::ulp_at(accumulate, 1);
}

}  // namespace verifier::comparison
