// Constructs that CUDA has and HIP lacks.
#pragma once

#include <optional>
#include <string>

#include "sandbox/compilation.h"

namespace sandbox::hip::compiler {

// Rejected{unsupported} with every such construct and the line of the first; nullopt if there is none. Looks at tokens:
// what `#if`s leave out for HIP (branches of __CUDA_ARCH__, __CUDACC__ or KW_WAVE == 32) is for the author to keep
// apart, so this is asked only after the compiler has refused the source.
std::optional<Rejected> find_cuda_only(const std::string& source, const std::string& log);

}  // namespace sandbox::hip::compiler
