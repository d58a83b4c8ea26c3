// The solution that a problem brings: the first incumbent.
#pragma once

#include "benchsuite/problem.h"
#include "sandbox/solution.h"

namespace sandbox {

// The kernel of the plan that stands for a call of forward() in reference.py; its arguments are the inputs, then the
// outputs, each in order of name.
constexpr char kPytorchKernel[] = "pytorch_forward";

// naive.cu. Of a problem with reference.py a solution without device code, whose plan is one call of forward() and
// whose text follows from reference.py. Throws core::InputError.
Solution naive_solution(const benchsuite::Problem& problem);

}  // namespace sandbox
