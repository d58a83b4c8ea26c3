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
  std::string prelude;                                      // text of kw_prelude.h, predefined on every device
  std::vector<std::filesystem::path> include_folders = {};  // the user's (CUTLASS), after the toolkit's
  std::vector<std::string> more_options = {};               // of NVRTC, after ours
};

// This device has only the fast build. The Built's binary is a cubin, with its PTX. Rejected{forbidden}: an #include of
// a file outside the include folders, PTX or a cubin that inspection refuses (ptx_check.h, cubin.h), or a kernel that
// the solution's plan does not launch. Throws core::SystemError when our side fails.
Compilation compile(const CompileRequest& request, const CompilerSettings& settings, const Nvrtc& nvrtc);

}  // namespace sandbox::cuda::compiler
