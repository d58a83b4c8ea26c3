// The text of a first kernel, for a problem that has none.
#pragma once

#include <filesystem>
#include <string>

#include "benchsuite/problem.h"

namespace agent::actions {

// A solution with its launch plan and signature: all tensors, axes and scalars, one thread for each element of the
// first output. Its body, which writes zeros, is the author's to replace.
std::string kernel_skeleton(const benchsuite::Problem& problem);
// The same as a file of a problem's folder, kernel.cu.
benchsuite::SourceFiles with_first_kernel(const benchsuite::Problem& problem);

// The commands that a new problem's folder needs next, one in each line.
std::string next_steps(const std::filesystem::path& folder);

}  // namespace agent::actions
