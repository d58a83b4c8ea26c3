// Binding a solution's launch plan to one shape and one point.
#include <algorithm>
#include <set>

#include "core/error.h"
#include "sandbox/plan_values.h"
#include "sandbox/solution.h"

namespace sandbox {
namespace {
using core::InputError;

bool is_tensor_map(const Solution& solution, const std::string& name) {
  return std::ranges::any_of(solution.tensor_maps, [&](const TensorMap& map) { return map.name == name; });
}

void bind_cluster(PlannedLaunch& planned, const Launch& launch, const core::Bindings& bindings,
                  const std::string& where) {
  constexpr int64_t kMostBlocks = 16;  // of a cluster, on any device
  int64_t blocks = 1;
  for (size_t d = 0; d < 3; ++d) {
    const std::string axis(1, "xyz"[d]);
    planned.cluster[d] = eval_plan(launch.cluster[d], bindings, where);
    check_range(planned.cluster[d], 1, kMostBlocks, "cluster." + axis, where);
    blocks *= planned.cluster[d];
    if (planned.grid[d] % planned.cluster[d] != 0) {
      throw InputError(where,
                       "grid." + axis + " is " + std::to_string(planned.grid[d]) +
                           ", which is not a multiple of cluster." + axis + ", " + std::to_string(planned.cluster[d]),
                       "round the grid up and let the extra blocks do nothing");
    }
  }
  check_range(blocks, 1, kMostBlocks, "blocks per cluster", where);
}

PlannedTensorMap bind_map(const Solution& solution, const TensorMap& map, const LaunchPlan& plan,
                          const core::Bindings& bindings, const benchsuite::Problem* problem) {
  const std::string where = solution.file + "#/tensor_maps/" + map.name;
  for (const PlannedWorkspace& workspace : plan.workspaces) {
    if (workspace.name == map.buffer) return bind_tensor_map(map, {workspace.bytes, {}, {}}, bindings, where);
  }
  if (problem == nullptr) throw core::SystemError("a plan with tensor maps was bound without its problem");
  const benchsuite::Tensor* tensor = problem->find_tensor(map.buffer);
  if (tensor == nullptr) throw InputError(where + "/tensor", "there is no tensor \"" + map.buffer + "\"");
  return bind_tensor_map(map, {tensor->bytes(bindings), tensor->dtype, tensor->shape}, bindings, where);
}

PlannedLaunch bind_launch(const Solution& solution, size_t index, const core::Bindings& bindings,
                          const benchsuite::Problem* problem) {
  const Launch& launch = solution.launches[index];
  const std::string where = solution.file + "#/launches/" + std::to_string(index);
  constexpr int64_t kGridMost[] = {2147483647, 65535, 65535}, kBlockMost[] = {1024, 1024, 64};
  PlannedLaunch planned;
  planned.kernel = launch.kernel;
  planned.place = index;
  for (size_t d = 0; d < 3; ++d) {
    const std::string axis(1, "xyz"[d]);
    planned.grid[d] = eval_plan(launch.grid[d], bindings, where + "/grid");
    check_range(planned.grid[d], 1, kGridMost[d], "grid." + axis, where + "/grid");
    planned.block[d] = eval_plan(launch.block[d], bindings, where + "/block");
    check_range(planned.block[d], 1, kBlockMost[d], "block." + axis, where + "/block");
  }
  check_range(planned.block[0] * planned.block[1] * planned.block[2], 1, 1024, "threads per block", where + "/block");
  bind_cluster(planned, launch, bindings, where + "/cluster");
  planned.cooperative = launch.cooperative;
  planned.overlaps_previous = launch.overlaps_previous;
  planned.shared_bytes = eval_plan(launch.shared_bytes, bindings, where + "/shared_bytes");
  check_range(planned.shared_bytes, 0, 232448, "shared_bytes", where + "/shared_bytes");
  for (size_t i = 0; i < launch.args.size(); ++i) {
    const std::string& arg = launch.args[i];
    if (is_tensor_map(solution, arg)) {
      planned.args.emplace_back(TensorMapArg{arg});
      continue;
    }
    if (const core::Scalar* scalar = problem == nullptr ? nullptr : problem->find_scalar(arg)) {
      planned.args.emplace_back(ScalarArg{*scalar});
      continue;
    }
    const core::Expr expr = core::Expr::parse(arg);
    const std::set<std::string> names = expr.names();
    const bool number = std::ranges::all_of(names, [&](const std::string& n) { return bindings.count(n); });
    if (!number) {
      planned.args.emplace_back(BufferArg{arg});
      continue;
    }
    const std::string place = where + "/args/" + std::to_string(i);
    const int64_t value = eval_plan(expr, bindings, place);
    check_range(value, INT32_MIN, INT32_MAX, "\"" + arg + "\"", place);
    planned.args.emplace_back(ScalarArg{static_cast<int32_t>(value)});
  }
  return planned;
}

std::vector<PlannedLaunch> bind_launches(const Solution& solution, const core::Bindings& bindings,
                                         const benchsuite::Problem* problem) {
  const std::string where = solution.file + "#/launches";
  std::vector<PlannedLaunch> planned;
  for (size_t i = 0; i < solution.launches.size(); ++i) {
    const std::string condition = where + "/" + std::to_string(i) + "/when";
    if (eval_plan(solution.launches[i].when, bindings, condition) == 0) continue;
    planned.push_back(bind_launch(solution, i, bindings, problem));
  }
  if (planned.empty()) {
    throw InputError(where, "no launch runs at this shape: each \"when\" is zero",
                     "give one launch a \"when\" that holds where the others' do not");
  }
  planned.front().overlaps_previous = false;  // what it would overlap was left out
  return planned;
}
}  // namespace

LaunchPlan bind_plan(const Solution& solution, const TunableBinding& binding, const core::Bindings& axes,
                     const benchsuite::Problem* problem) {
  core::Bindings bindings = axes;
  bindings.insert(binding.begin(), binding.end());
  LaunchPlan plan;
  for (const Workspace& workspace : solution.workspaces) {
    const std::string where = solution.file + "#/workspace/" + workspace.name + "/bytes";
    const int64_t bytes = eval_plan(workspace.bytes, bindings, where);
    check_range(bytes, 1, kMostWorkspaceBytes, "workspace \"" + workspace.name + "\"", where);
    plan.workspaces.push_back({workspace.name, bytes, workspace.zeroed});
  }
  plan.launches = bind_launches(solution, bindings, problem);
  for (const TensorMap& map : solution.tensor_maps) {
    plan.tensor_maps.push_back(bind_map(solution, map, plan, bindings, problem));
  }
  return plan;
}

}  // namespace sandbox
