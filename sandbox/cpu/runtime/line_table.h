// From machine code to lines of the solution file.
#pragma once

#include <cstdint>
#include <optional>

#include "sandbox/compilation.h"

namespace sandbox::cpu::runtime {

// Reads the line table of a loaded shared object. `base`: where it was loaded. Replaces what was read before. A file
// without line information leaves an empty table.
void read_line_table(int binary_fd, uintptr_t base, Build build);

// The line of the instruction at this address; nullopt when unknown. Safe in a signal handler.
std::optional<int64_t> line_of(uintptr_t address);
// The same with the place within it, in the covering build (compiler/places.h).
std::optional<int64_t> place_of(uintptr_t address);

}  // namespace sandbox::cpu::runtime
