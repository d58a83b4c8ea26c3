// A solution's device code as part of a larger program.
#pragma once

#include <string>
#include <vector>

#include "sandbox/solution.h"

namespace results::exporting {

// The source in its own namespace, after the headers that it includes. Kernels get C++ linkage, so that two exports
// never share a symbol. Tunables are macros; they are undefined at the end with every other macro of the source.
// `types`: declarations that the source needs.
std::string in_namespace(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                         const std::string& name_space, const std::string& types);

// The distinct names of the plan's kernels, in the order of their first launch.
std::vector<std::string> kernels_of(const sandbox::Solution& solution);

// Throws core::InputError for a solution whose code may differ when it is compiled for a host too: conditions on macros
// that it does not define, attributes, assembler outside functions. The judge compiled no host code; this ensures that
// none appears later. Shared headers that ship (kernels/include) are trusted.
void refuse_host_code(const sandbox::Solution& solution, const sandbox::TunableBinding& binding);

}  // namespace results::exporting
