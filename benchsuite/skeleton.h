// The files of a new problem, to be changed into the author's own.
#pragma once

#include <filesystem>
#include <string>

#include "benchsuite/problem.h"

namespace benchsuite {

// A product of a matrix and a vector called `name`, with comments that say what each file is for: problem.json,
// reference.cu, naive.cu, and kernel.cu, a first kernel to improve. Its dtype is what the name ends in. Throws
// core::InputError unless that is f16, bf16, f8e4m3, f8e5m2 or f32.
SourceFiles problem_skeleton(const std::filesystem::path& templates, const std::string& name);

}  // namespace benchsuite
