// The kernels of a binary against those of its launch plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sandbox/compilation.h"
#include "sandbox/solution.h"

namespace sandbox {

// The solution that a request's source holds; nullopt for sources without a launch plan, which are our own.
std::optional<Solution> solution_of(const CompileRequest& request);

// A kernel that no launch of the plan names is refused: what runs is what is looked at. One that is missing, or takes
// other arguments than the plan gives, is found where the plan is put to use.
std::optional<Rejected> refuse_stray_kernel(const Solution& solution, const std::map<std::string, int64_t>& kernels);

}  // namespace sandbox
