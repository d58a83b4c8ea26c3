// How far two sides' outputs of one launch on the same inputs are apart: what honest kernels differ by is steady from
// launch to launch, so that more than that is a reason to look closely.
#pragma once

#include <cstddef>
#include <span>

#include "core/dtype.h"

namespace verifier {

// The largest difference of two elements, relative to the RMS of b's finite ones; infinite where one side alone is not
// finite, where the sides are different integers, and where b is all zeros and a is not.
double largest_difference(core::DType dtype, std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace verifier
