// The compile worker of the hip device. It needs hiprtc, but neither a GPU nor a driver.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "sandbox/process/channel.h"

namespace sandbox::hip::compiler {

struct CompileRoleSettings {
  std::filesystem::path device_headers, hip_headers;
  std::filesystem::path scratch;  // the compiler's temporary files
  std::string architecture;       // "gfx90a"
  size_t memory_mib = 4096;       // address space for compiling, beyond what the compiler takes at first
  int deadline_s = 20;            // for one compilation; announced in the greeting, enforced by the owner
};

// Opens and warms hiprtc, locks the process, greets, and compiles until the owner hangs up. Throws core::SystemError if
// hiprtc is missing or does not know the architecture.
void serve_compile_role(process::Channel& owner, const CompileRoleSettings& settings);

}  // namespace sandbox::hip::compiler
