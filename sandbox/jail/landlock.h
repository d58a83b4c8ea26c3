// Landlock: the files that a process can reach, as the kernel sees them.
#pragma once

#include <optional>

#include "sandbox/jail/jail.h"

namespace sandbox::jail {

// The Landlock ABI of the running kernel; 0 when there is none.
int landlock_abi();

// Leaves the calling process the given folders alone, and tries whether that holds. nullopt: it does. Throws
// core::SystemError for a folder that the kernel takes no rule for.
std::optional<Shortfall> enter_landlock(const JailFolders& folders);

}  // namespace sandbox::jail
