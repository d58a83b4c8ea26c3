// How far two sides' outputs of one launch on the same inputs are apart: what honest kernels differ by is steady from
// launch to launch, so that more than that is a reason to look closely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/dtype.h"

namespace verifier::comparison {

struct Difference {
  double largest = 0;  // |a - b|; infinite where one side alone is not finite or the sides are different integers
  double squares = 0;  // sum of b^2 where b is finite
};
// The largest difference relative to the RMS of b's finite elements; infinite where b is all zeros and a is not.
double relative_difference(const Difference& difference, int64_t elements);

// The same of outputs in host memory.
double largest_difference(core::DType dtype, std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace verifier::comparison
