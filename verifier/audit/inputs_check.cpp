#include "verifier/audit/inputs_check.h"

#include <algorithm>
#include <set>

#include "sandbox/solution.h"
#include "verifier/judging/given_inputs.h"

namespace verifier::audit {
namespace {
using reference::ReferenceChannel;
constexpr uint64_t kKeys[] = {11, 12, 13, 14};

std::vector<core::Bindings> shapes_of(const benchsuite::Problem& problem, const std::string& backend,
                                      ReferenceChannel& drawer) {
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.runs_on(backend)) shapes.push_back(workload.axes);
  }
  for (core::Bindings& axes : judging::shapes_to_try(problem, backend)) {
    if (judging::can_draw_given(drawer, problem, axes)) shapes.push_back(std::move(axes));
  }
  return shapes;
}
}  // namespace

std::vector<std::string> check_inputs(const benchsuite::Problem& problem, const std::string& backend,
                                      ReferenceChannel& drawer) {
  std::vector<std::string> faults;
  std::set<size_t> drifting, constant;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    if (judging::is_given(problem.inputs[i])) constant.insert(i);
  }
  for (const core::Bindings& axes : shapes_of(problem, backend, drawer)) {
    std::vector<ReferenceChannel::Given> draws;
    for (const uint64_t key : kKeys) draws.push_back(judging::draw_given(drawer, problem, axes, key));
    const ReferenceChannel::Given again = judging::draw_given(drawer, problem, axes, kKeys[0]);
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      if (again[i] != draws[0][i] && drifting.insert(i).second) {
        faults.push_back("inputs() gives another " + problem.inputs[i].name + " for the same key, at " +
                         sandbox::describe(axes) + ": take all chance from generator");
      }
      if (std::ranges::any_of(draws, [&](const auto& draw) { return draw[i] != draws[0][i]; })) constant.erase(i);
    }
  }
  for (const size_t i : constant) {
    faults.push_back("inputs() gives the same " + problem.inputs[i].name +
                     " for every key, so that a candidate can know it: draw it with generator, or list shapes at "
                     "which it can differ");
  }
  return faults;
}

}  // namespace verifier::audit
