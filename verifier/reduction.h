// How far a sum of many inputs may honestly be off, whatever its order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "benchsuite/problem.h"
#include "core/dtype.h"

namespace verifier {

// An output element that sums `terms` inputs, its partial sums reaching about `partial_sum`.
struct Reduction {
  double terms = 1;
  double partial_sum = 0;
};

// Estimated from the shapes (the inputs per output element) and the inputs' content: sqrt(terms) times their RMS, or
// the product of their RMS if that is larger, as in a dot product. `inputs` holds the tensors' bytes in the problem's
// order. Content is sampled: at most 65536 elements a tensor.
Reduction reduction_of(const benchsuite::Problem& problem, const core::Bindings& axes, const benchsuite::Tensor& output,
                       const std::vector<std::span<const std::byte>>& inputs);

// The absolute error that any honest order of summation may show, for outputs of size `scale`; 0 where nothing
// is summed. One thread that adds n terms of N(0,1) one after the other errs by 0.28 u n (u = half an ulp of 1: the
// rounding errors of partial sums that grow like sqrt(i) add in quadrature); this allows four times that up to n =
// 4096, beyond which no honest kernel sums in one thread.
double honest_error(const Reduction& reduction, core::DType accumulate, double scale);

}  // namespace verifier
