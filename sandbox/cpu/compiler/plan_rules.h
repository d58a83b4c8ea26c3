// What a launch plan may ask of the cpu device, whose blocks run one after another.
#pragma once

#include <optional>
#include <string>

#include "sandbox/solution.h"

namespace sandbox::cpu::compiler {

// One sentence with the first thing that this device does not have; nullopt when it can run the plan at this point.
std::optional<std::string> why_not(const Solution& solution, const TunableBinding& binding);

}  // namespace sandbox::cpu::compiler
