// Inputs close by: where one sum decides about an output's largest error, the naive error may be small by luck, and is
// taken over several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "benchsuite/problem.h"

namespace verifier::draws {

// How many neighbours the judge takes at this shape, 0 where none are needed or they would cost too much. They are for
// an output of few rows, whose elements share the error of a sum (those of a vector that sums nothing err each for
// itself), and for one of short rows: among thousands of rows of three elements, the one whose elements are nearly
// equal has the largest error once it is normalised, a hundred times that of the others.
uint64_t neighbours_wanted(const benchsuite::Problem& problem, const core::Bindings& axes);

// Multiplies each element by 1 + w, where w is a slow wave through the tensor: what a sum that rounds on its way gives
// is the exact sum of terms that are each off by a little, neighbours alike. Only floating tensors without structure
// move.
void sway_input(std::span<std::byte> bytes, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                double amplitude, uint64_t key);

}  // namespace verifier::draws
