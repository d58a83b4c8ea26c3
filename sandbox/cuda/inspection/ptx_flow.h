// Where the addresses of a module's own variables go.
#pragma once

#include <optional>

#include "sandbox/compilation.h"
#include "sandbox/cuda/inspection/ptx_text.h"

namespace sandbox::cuda::inspection {

// Tables that are only read are constants, whatever the source calls them. Why a variable in global or constant memory
// may be written: a store goes through its address; the address is put where it cannot be followed; or something else
// than another address is made of it, which a store might use when it has been put together again. The address is
// followed through offsets, choices between addresses and direct calls, without regard to branches. Stores to the
// constant memory of parameters are refused, too.
std::optional<Rejected> find_written_variable(const PtxText& ptx);

}  // namespace sandbox::cuda::inspection
