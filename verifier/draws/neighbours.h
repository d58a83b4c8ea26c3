// Inputs close by: where one sum decides about an output's largest error, the naive error may be small by luck, and is
// taken over several.
#pragma once

#include <cstdint>

#include "benchsuite/problem.h"

namespace verifier::draws {

// How many neighbours the judge takes at this shape, 0 where none are needed or they would cost too much. They are for
// an output of few rows, whose elements share the error of a sum (those of a vector that sums nothing err each for
// itself), and for one of short rows: among thousands of rows of three elements, the one whose elements are nearly
// equal has the largest error once it is normalised, a hundred times that of the others.
uint64_t neighbours_wanted(const benchsuite::Problem& problem, const core::Bindings& axes);

}  // namespace verifier::draws
