// seccomp: the system calls that a worker has left.
#pragma once

#include <optional>

#include "sandbox/jail/jail.h"

namespace sandbox::jail {

// Leaves the calling process the system calls of its profile; of a cell, over this channel alone. nullopt: done.
std::optional<Shortfall> enter_seccomp(JailProfile profile, int channel);

}  // namespace sandbox::jail
