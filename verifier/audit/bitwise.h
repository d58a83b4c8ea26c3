// A problem whose expected output is another one's naive output, bit by bit: accepted solutions are equivalent to
// naive.
#pragma once

#include "benchsuite/problem.h"

namespace verifier::audit {

// Outputs are bytes; inputs, shapes and workloads are the other problem's, and its naive solution is the reference.
benchsuite::Problem bitwise_problem(const benchsuite::Problem& problem);

}  // namespace verifier::audit
