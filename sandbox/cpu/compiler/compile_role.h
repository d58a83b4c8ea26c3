// The compile worker of the cpu device: the host's compiler behind a jail, one request at a time.
#pragma once

#include <filesystem>

#include "sandbox/compilation.h"
#include "sandbox/process/channel.h"

namespace sandbox::cpu::compiler {

// Locks the process (only `device_headers`, the system's compiler folders and `scratch` stay reachable), greets, and
// serves until the owner hangs up. Throws core::SystemError when there is no host compiler.
void serve_compile_role(process::Channel& owner, const std::filesystem::path& device_headers,
                        const std::filesystem::path& scratch, Dialect dialect);

}  // namespace sandbox::cpu::compiler
