// The text of a first kernel, for a problem that has none.
#pragma once

#include <string>

#include "benchsuite/problem.h"

namespace agent::cli {

// A solution with its launch plan and signature: all tensors, axes and scalars, one thread for each element of the
// first output. Its body, which writes zeros, is the author's to replace.
std::string kernel_skeleton(const benchsuite::Problem& problem);

}  // namespace agent::cli
