#include "verifier/draws/reach.h"

#include <algorithm>

#include "core/error.h"
#include "verifier/draws/shapes.h"

namespace verifier::draws {

int64_t threads_of(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes) {
  try {
    int64_t threads = 0;
    for (const sandbox::PlannedLaunch& launch :
         sandbox::bind_plan(plan.solution, plan.binding, axes, &problem).launches) {
      threads += launch.grid[0] * launch.grid[1] * launch.grid[2] * launch.block[0] * launch.block[1] * launch.block[2];
    }
    return threads;
  } catch (const core::InputError&) {
    return 0;
  }
}

core::Bindings within_reach(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                            int64_t most_threads, double share) {
  core::Bindings reached = axes;
  for (int step = 0; step < 64 && threads_of(plan, problem, reached) > most_threads; ++step) {
    come_nearer(problem, reached, share);
  }
  return threads_of(plan, problem, reached) < threads_of(plan, problem, axes) ? reached : axes;
}

bool has_persistent_grid(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                         int64_t least_threads) {
  const int64_t threads = threads_of(plan, problem, axes);
  if (threads < least_threads) return false;
  core::Bindings half = axes;
  come_nearer(problem, half, 0.5);
  return half != axes && threads_of(plan, problem, half) == threads;
}

bool lends_enough(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                  int64_t most_workspace_bytes) {
  constexpr int64_t kCopies = 4;
  int64_t tensors = 0;
  for (const auto* some : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *some) tensors += tensor.bytes(axes);
  }
  core::Bindings values = axes;
  values.insert(plan.binding.begin(), plan.binding.end());
  const int64_t most = std::min(most_workspace_bytes, sandbox::kMostWorkspaceBytes);
  return std::ranges::none_of(plan.solution.workspaces, [&](const sandbox::Workspace& workspace) {
    try {
      const int64_t bytes = workspace.bytes.eval(values);
      return bytes > most && bytes <= kCopies * tensors;
    } catch (const core::ExprError&) {
      return false;  // the plan says so when it is bound
    }
  });
}

}  // namespace verifier::draws
