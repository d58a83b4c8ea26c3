// How far a sum of many inputs may honestly be off, whatever its order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchsuite/problem.h"
#include "core/dtype.h"
#include "verifier/draws/inputs.h"

namespace verifier::comparison {

// An output element that sums `terms` inputs, its partial sums reaching about `partial_sum`.
struct Reduction {
  double terms = 1;
  double partial_sum = 0;
  bool alike = false;        // see rounds_alike
  bool coherent = false;     // one element may be the sum of squares, much larger than its neighbours
  bool known_terms = false;  // the contract says how many: more is done with them than to add them up
};

// Sums over the finite elements of a tensor, or over a sample of them.
struct Moments {
  double squares = 0;
  int64_t count = 0;
};
double rms_of(const Moments& moments);  // 0 for none
// Every so many elements are enough: at most 65536 of a tensor. Odd, so that it walks through all columns.
int64_t sample_step(int64_t elements);
// Takes a sample of a tensor of any dtype.
Moments moments_of(core::DType dtype, std::span<const std::byte> bytes);

// The reduction of an output for inputs drawn so. The terms are what the contract says; they err by the output's size.
// Or they are estimated from the shapes (the inputs per output element, or the operations where there are only sums and
// products: each element of a matrix product shares its inputs with many others), and the partial sums from the inputs'
// content, where several stand behind one output element: sqrt(terms) times their RMS, or the product of their RMS if
// that is larger, as in a dot product. `inputs` has the moments of each tensor in the problem's order; those of
// integers do not count.
Reduction reduction_of(const benchsuite::Problem& problem, const core::Bindings& axes, const benchsuite::Tensor& output,
                       draws::Distribution distribution, const std::vector<Moments>& inputs);
// The same for inputs in host memory.
Reduction reduction_of(const benchsuite::Problem& problem, const core::Bindings& axes, const benchsuite::Tensor& output,
                       draws::Distribution distribution, const std::vector<std::span<const std::byte>>& inputs);

// By how much any honest order of summation may be off, relative to its largest partial sum; 0 where nothing is summed.
// One thread that adds n terms of N(0,1) one after the other errs by 0.28 u n (u = half an ulp of 1: the rounding
// errors of partial sums that grow like sqrt(i) add in quadrature); this allows four times that up to n = 4096, beyond
// which no honest kernel sums in one thread. Terms that are rounded alike may each lose up to half an ulp in the same
// direction; this allows half of that for all of them.
double rounding_of_sums(const Reduction& reduction, core::DType accumulate);

}  // namespace verifier::comparison
