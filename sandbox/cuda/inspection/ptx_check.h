// What the PTX of a candidate may hold. The compiler makes the cubin of this text, and inline assembly is in it as it
// was written, however the source put it together.
#pragma once

#include <optional>
#include <string_view>

#include "sandbox/compilation.h"

namespace sandbox::cuda::inspection {

// Why it is refused: clocks and other special registers of no honest use, lines pinned in L2, calls through pointers,
// functions of the driver other than an assertion's, managed memory, textures, __device__ variables that may be
// written. `cooperative`: the plan has a cooperative launch, whose barrier lives where %envreg1 and %envreg2 point.
std::optional<Rejected> check_ptx(std::string_view ptx, bool cooperative);

}  // namespace sandbox::cuda::inspection
