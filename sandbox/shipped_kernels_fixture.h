// For tests: every shipped solution file with its problem. Defined in shipped_kernels_test.cpp.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/solution.h"

namespace sandbox::test {

struct ShippedKernel {
  std::string name;  // "softmax_f32_naive": a test's name
  std::filesystem::path file, problem_folder;
  std::vector<std::string> backends;
  bool of_problem = false;  // reference.cu or naive.cu
  bool reference = false;   // writes its floating outputs as double

  const benchsuite::Problem& problem() const;  // read at the first call
  bool says(const std::string& backend) const;
};
std::ostream& operator<<(std::ostream& out, const ShippedKernel& kernel);

// kernels/<problem>/*.cu, and reference.cu and naive.cu of every problem.
// Every start of the test program lists them, so this reads no more than their headers' text.
const std::vector<ShippedKernel>& shipped_kernels();

// Those whose "backends" name this one.
std::vector<ShippedKernel> shipped_kernels_for(const std::string& backend);

// Every combination of tunable values that satisfies the constraints.
std::vector<TunableBinding> valid_points(const Solution& solution);

// A point other than the default if there is one; fixed per kernel, varying between kernels.
TunableBinding another_point(const ShippedKernel& kernel, const Solution& solution);

}  // namespace sandbox::test
