// Worker roles that the cuda device has beside "run" (sandbox/gpu/run/run_role.h): each opens the device, greets, and
// serves until its owner hangs up.
#pragma once

#include "sandbox/process/channel.h"

namespace sandbox::cuda::run {

// A process in which a tool of compute-sanitizer or a profiler watches a candidate's launches. It holds nothing secret:
// inputs used nowhere else, and no expected outputs. It is not jailed, since the tool needs files and processes; it
// only launches candidates that were already judged in a jail.
//
// One request of its owner, then the process ends, and the tool writes its report:
//   {"op":"launch","shapes":[{"plan":{...},"inputs":[{"name","bytes"}...],"outputs":[{"name","bytes"}...]}...]}
//   + cubin, then the inputs' content, shape by shape           {"ok": true}, or {"failed": what} after an error
// Throws core::SystemError when there is no such device.
void serve_watched_role(process::Channel& owner, int device_index);

}  // namespace sandbox::cuda::run
