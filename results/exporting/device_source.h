// A solution's device code as a part of a program that holds more than it.
#pragma once

#include <string>
#include <vector>

#include "sandbox/solution.h"

namespace results::exporting {

// Everything of the source in a namespace of its own, below the headers that it includes: kernels of C linkage get that
// of C++, so that two exports never share a symbol. Tunables are macros, undefined at the end with every other macro
// that the source defines. `types` are declarations that the source relies on.
std::string in_namespace(const sandbox::Solution& solution, const sandbox::TunableBinding& binding,
                         const std::string& name_space, const std::string& types);

// The names of the plan's kernels, each once, in the order of their first launch.
std::vector<std::string> kernels_of(const sandbox::Solution& solution);

// Throws core::InputError for a solution whose code may be another one where a host is compiled for, too: conditions
// that ask more than the solution itself defines, attributes, assembler outside of functions. What the judge compiled
// has no host code of its own; with this, none appears later.
void refuse_host_code(const sandbox::Solution& solution, const sandbox::TunableBinding& binding);

}  // namespace results::exporting
