// Compiles a candidate for an AMD architecture. Needs no GPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sandbox/compilation.h"
#include "sandbox/gpu/runtime_compiler.h"
#include "sandbox/hip/inspection/comgr.h"

namespace sandbox::hip::compiler {

struct CompilerSettings {
  std::string architecture;              // "gfx90a"
  std::filesystem::path device_headers;  // holds kw_prelude.h, predefined on every device
  std::filesystem::path hip_headers;     // holds kw_hiprtc.h and CUDA's names for what HIP has
};

// The options that hiprtc gets.
std::vector<std::string> options_for(const CompileRequest& request, const CompilerSettings& settings);

// Lanes of a wavefront: 64, and 32 where the architecture has them (RDNA).
int lanes_of_wave(const std::string& architecture);

// This device has only the fast build. The Built's binary is a code object. Rejected{forbidden}: an #include of a file
// outside the include folders, what inspection refuses (code_object.h), or a kernel that the solution's plan does not
// launch. Rejected{unsupported}: a construct that only CUDA has; the message names it. Throws core::SystemError when
// our side fails, also for an architecture that this ROCm does not know.
Compilation compile(const CompileRequest& request, const CompilerSettings& settings, const gpu::RuntimeCompiler& hiprtc,
                    const inspection::Comgr& comgr);

}  // namespace sandbox::hip::compiler
