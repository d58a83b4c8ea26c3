// What a source could say to a compiler of programs and keep from the judge's, which compiles for devices alone.
#pragma once

#include "sandbox/solution.h"

namespace results::exporting {

// Throws core::InputError for a solution whose code may be another one where a host is compiled for, too: conditions
// that ask more than the solution itself defines, attributes, assembler outside of functions. What the judge compiled
// has no host code of its own; with this, none appears later.
void refuse_host_code(const sandbox::Solution& solution, const sandbox::TunableBinding& binding);

}  // namespace results::exporting
