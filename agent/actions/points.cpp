#include "agent/actions/points.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"

namespace agent::actions {

sandbox::TunableBinding point_of(const sandbox::Solution& solution, const std::map<std::string, int64_t>& changed,
                                 const std::string& where) {
  sandbox::TunableBinding binding = sandbox::default_binding(solution);
  std::vector<std::string> known;
  for (const sandbox::Tunable& tunable : solution.tunables) known.push_back(tunable.name);
  for (const auto& [name, value] : changed) {
    const auto tunable = std::ranges::find(solution.tunables, name, &sandbox::Tunable::name);
    if (tunable == solution.tunables.end()) {
      throw core::InputError(where, "there is no tunable \"" + core::clean_line(name, 200) + "\"",
                             core::did_you_mean(name, known, "tunables"));
    }
    if (std::ranges::count(tunable->values, value) == 0) {
      throw core::InputError(
          where, fmt::format("{} = {} is not among its values ({}); to try it, add it to the solution's tunables", name,
                             value, fmt::join(tunable->values, ", ")));
    }
    binding[name] = value;
  }
  if (!sandbox::satisfies_constraints(solution, binding)) {
    throw core::InputError(where, sandbox::describe(binding) + " breaks a constraint of the solution");
  }
  return binding;
}

}  // namespace agent::actions
