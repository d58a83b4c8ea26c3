// hiprtc, opened at run time: building and starting the program needs no ROCm.
#pragma once

#include <string>

#include "sandbox/gpu/runtime_compiler.h"

namespace sandbox::hip::compiler {

// Opens the newest hiprtc that the dynamic linker finds, or one of /opt/rocm; before ROCm 6 it is a part of the HIP
// runtime. Throws core::SystemError with the remedy if there is none.
gpu::RuntimeCompiler open_hiprtc();

}  // namespace sandbox::hip::compiler
