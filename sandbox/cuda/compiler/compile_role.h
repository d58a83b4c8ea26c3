// The compile worker of the cuda device. It needs NVRTC, but neither a GPU nor a driver.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sandbox/process/channel.h"

namespace sandbox::cuda::compiler {

struct CompileRoleSettings {
  std::filesystem::path device_headers;
  std::filesystem::path cuda_home;                     // may be empty
  std::string architecture;                            // "sm_90", "sm_90a"
  std::vector<std::filesystem::path> include_folders;  // the user's (CUTLASS)
  size_t memory_mib = 4096;                            // address space for compiling, beyond NVRTC's initial reserve
  int deadline_s = 20;  // for one compilation; announced in the greeting, enforced by the owner
};

// Opens and warms NVRTC, locks the process, greets, and compiles until the owner hangs up. Throws core::SystemError if
// NVRTC is missing or does not support the architecture, or an include folder is missing.
void serve_compile_role(process::Channel& owner, const CompileRoleSettings& settings);

}  // namespace sandbox::cuda::compiler
