// The identity of what actually runs: two candidates with the same artefact behave alike, whatever their sources say.
#pragma once

#include <string>
#include <vector>

#include "sandbox/solution.h"

namespace sandbox {

// Hash of the binaries and of the launch plan with its tunables bound. A tunable that neither reads does not change it.
std::string artefact_hash(const Solution& solution, const TunableBinding& binding,
                          const std::vector<std::string>& binary_hashes);

}  // namespace sandbox
