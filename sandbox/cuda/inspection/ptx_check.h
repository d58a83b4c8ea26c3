// Rules for a candidate's PTX. The compiler makes the cubin from this text; inline assembly appears in it verbatim.
#pragma once

#include <optional>
#include <string_view>

#include "sandbox/compilation.h"
#include "sandbox/cuda/inspection/ptx_text.h"

namespace sandbox::cuda::inspection {

// Returns why it is refused: clocks and other special registers without honest use, lines pinned in L2, calls through
// pointers, driver functions other than an assertion's, managed memory, textures, __device__ variables that may be
// written, tensor memory that is not freed or not written. `cooperative`: the plan has a cooperative launch, whose
// barrier lives where %envreg1 and %envreg2 point.
std::optional<Rejected> check_ptx(std::string_view ptx, bool cooperative);

// Returns why a variable in global or constant memory may be written: a store goes through its address, the address is
// put where it cannot be followed, or the address is turned into another value that a store might use. The address is
// followed through offsets, choices between addresses and direct calls, ignoring branches. Stores to the constant
// memory of parameters are refused, too. Tables that are only read are allowed.
std::optional<Rejected> find_written_variable(const PtxText& ptx);

}  // namespace sandbox::cuda::inspection
