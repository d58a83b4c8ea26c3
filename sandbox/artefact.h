// The identity of a candidate's binaries and plan: two candidates with the same artefact behave alike, whatever their
// sources.
#pragma once

#include <string>
#include <vector>

#include "sandbox/solution.h"

namespace sandbox {

// Hash of the binaries and of the launch plan with its tunables bound. Unused tunables do not change it.
std::string artefact_hash(const Solution& solution, const TunableBinding& binding,
                          const std::vector<std::string>& binary_hashes);

}  // namespace sandbox
