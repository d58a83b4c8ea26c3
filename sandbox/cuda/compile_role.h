// The compile worker of the cuda device. Needs NVRTC, but no GPU and no driver.
#pragma once

#include <filesystem>
#include <string>

#include "sandbox/channel.h"

namespace sandbox::cuda {

// Opens and warms NVRTC, locks the process, greets, and compiles for `architecture` until the owner hangs up. Throws
// core::SystemError when NVRTC is missing or does not know the architecture. `cuda_home` may be empty.
void serve_compile_role(Channel& owner, const std::filesystem::path& device_headers,
                        const std::filesystem::path& cuda_home, const std::string& architecture);

}  // namespace sandbox::cuda
