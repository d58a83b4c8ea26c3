// Names processes so that another one can tell later, also after a reboot, whether they still run.
#pragma once

#include <string>

namespace core {

// A name of this process: its host's boot, its process-id namespace, its id and the time of its start.
std::string this_process();

enum class Running { yes, no, unknown };  // unknown: on another host or in another container
// Does the process of this name still run?
Running is_running(const std::string& process);

}  // namespace core
