// The identity of what actually runs: two candidates with one artefact behave alike, whatever their sources say.
#pragma once

#include <string>
#include <vector>

#include "sandbox/solution.h"

namespace sandbox {

// Of the binaries and of the launch plan with its tunables bound: a tunable that neither of them reads makes no
// difference.
std::string artefact_hash(const Solution& solution, const TunableBinding& binding,
                          const std::vector<std::string>& binary_hashes);

}  // namespace sandbox
