// Compiles a candidate for an NVIDIA architecture. Needs no GPU.
#pragma once

#include <string>

#include "sandbox/compilation.h"
#include "sandbox/cuda/nvrtc.h"

namespace sandbox::cuda {

struct CompilerSettings {
  std::string architecture;  // "sm_90", "sm_90a"
  std::string prelude;       // text of kw_prelude.h: what every device predefines
};

// The fast build is the only one of this device. The Built's binary is a cubin. A source that includes what is no
// header of the toolkit is Rejected{forbidden}. Throws core::SystemError when our side fails.
Compilation compile(const CompileRequest& request, const CompilerSettings& settings, const Nvrtc& nvrtc);

}  // namespace sandbox::cuda
