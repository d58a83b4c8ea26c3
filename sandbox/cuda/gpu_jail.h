// The jail of workers that hold a context on an NVIDIA GPU.
#pragma once

#include "sandbox/jail.h"

namespace sandbox::cuda {

// No files but the driver's device files, no new processes, no sockets. To be entered when the context is open. Throws
// core::SystemError.
JailReport enter_gpu_jail();

}  // namespace sandbox::cuda
