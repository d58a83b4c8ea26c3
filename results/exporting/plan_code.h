// A solution's launch plan as C++ over templates/common/plan.h.
#pragma once

#include <string>

#include "benchsuite/problem.h"
#include "sandbox/solution.h"

namespace results::exporting {

// Array sizes for the plans of one export.
struct PlanRoom {
  size_t workspaces = 1, launches = 1, arguments = 1, maps = 0;

  void hold(const sandbox::Solution& solution);
};

// The function `bool <function>(const Shape& at, Plan& plan) noexcept`. Buffers are numbered: the problem's inputs,
// outputs, then workspaces.
std::string plan_function(const benchsuite::Problem& problem, const sandbox::Solution& solution,
                          const sandbox::TunableBinding& binding, const std::string& function);

}  // namespace results::exporting
