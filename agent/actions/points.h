// Points of a solution that a user or client names.
#pragma once

#include <map>
#include <string>

#include "sandbox/solution.h"

namespace agent::actions {

// The default point with these tunables changed. `where` names their source in errors ("--set"). Throws
// core::InputError when there is no such tunable, it does not list the value, or the point breaks a constraint.
sandbox::TunableBinding point_of(const sandbox::Solution& solution, const std::map<std::string, int64_t>& changed,
                                 const std::string& where);

}  // namespace agent::actions
