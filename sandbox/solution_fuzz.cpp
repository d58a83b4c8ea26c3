// Solution files: any text becomes a solution or is refused; its plan binds or is refused at every shape.
#include "sandbox/solution.h"

#include "benchsuite/catalogue.h"
#include "core/error.h"
#include "core/fuzzing.h"
#include "core/paths.h"
#include "sandbox/cpu/compiler/source_rules.h"
#include "sandbox/wire.h"

namespace {
using core::fuzzing::require;

void bind_everywhere(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                     const benchsuite::Problem& problem) {
  for (const benchsuite::Workload& workload : problem.workloads) {
    try {
      const sandbox::LaunchPlan plan = sandbox::bind_plan(solution, binding, workload.axes, &problem);
      const core::Json json = sandbox::to_json(plan);
      require(sandbox::to_json(sandbox::plan_from_json(core::JsonView(json, "plan"))) == json, "a plan travels");
    } catch (const core::InputError&) {
    }
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const auto problems = benchsuite::load_problems(core::installed_paths().problems());
  try {
    const sandbox::Solution solution =
        sandbox::parse_solution(std::string(core::fuzzing::as_text(bytes, size)), "fuzzed.cu");
    const sandbox::Solution plan = sandbox::parse_header(solution.header, "fuzzed.cu");
    require(plan.problem == solution.problem && plan.launches.size() == solution.launches.size(), "a header is enough");
    sandbox::TunableBinding binding = sandbox::default_binding(solution);
    sandbox::describe(binding);
    sandbox::cpu::compiler::why_not(solution, sandbox::Build::fast);
    const auto problem = problems.find(solution.problem);
    if (problem == problems.end()) return 0;
    for (const sandbox::Tunable& tunable : solution.tunables) {
      binding[tunable.name] = tunable.values.back();
      bind_everywhere(solution, binding, problem->second);
    }
    sandbox::validate_solution(solution, problem->second);
    bind_everywhere(solution, sandbox::default_binding(solution), problem->second);
  } catch (const core::InputError&) {
  }
  return 0;
}
