// Compiles a candidate for an NVIDIA architecture. Needs no GPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sandbox/compilation.h"
#include "sandbox/cuda/compiler/nvrtc.h"

namespace sandbox::cuda::compiler {

struct CompilerSettings {
  std::string architecture;                                 // "sm_90", "sm_90a"
  std::string prelude;                                      // text of kw_prelude.h: what every device predefines
  std::vector<std::filesystem::path> include_folders = {};  // the user's own (CUTLASS), after those of the toolkit
};

// The fast build is the only one of this device. The Built's binary is a cubin; its PTX comes with it. A source that
// includes what is no header of the include folders is Rejected{forbidden}, and so is what PTX or cubin refuse
// (ptx_check.h, cubin.h) and a kernel that the solution's plan does not launch. Throws core::SystemError when our side
// fails.
Compilation compile(const CompileRequest& request, const CompilerSettings& settings, const Nvrtc& nvrtc);

}  // namespace sandbox::cuda::compiler
