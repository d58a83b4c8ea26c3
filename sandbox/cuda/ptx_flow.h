// Where the addresses of a module's own variables go.
#pragma once

#include <optional>

#include "sandbox/compilation.h"
#include "sandbox/cuda/ptx_text.h"

namespace sandbox::cuda {

// Tables that are only read are constants, whatever the source calls them. Why a variable in global or constant memory
// may be written: a store goes through its address, or the address is put where it cannot be followed. The address is
// followed through arithmetic and direct calls, without regard to branches.
std::optional<Rejected> find_written_variable(const PtxText& ptx);

}  // namespace sandbox::cuda
