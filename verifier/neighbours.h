// Inputs close by: where an output has few rows, its naive error may be small by luck, and is taken over several.
#pragma once

#include <cstdint>

#include "benchsuite/problem.h"

namespace verifier {

inline constexpr uint64_t kNeighbours = 8;

// Does the problem at this shape have an output of few rows, whose elements share the error of a sum, and is it so
// small that the neighbours cost next to nothing? The elements of a vector that sums nothing err each for itself.
bool wants_neighbours(const benchsuite::Problem& problem, const core::Bindings& axes);

}  // namespace verifier
