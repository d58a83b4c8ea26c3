// A process in which one of compute-sanitizer's tools watches a candidate's launches. It holds nothing that a candidate
// must not see: inputs of no other use, and no expected outputs. It is in no jail, since the tool needs files and
// processes of its own; so only what has been judged in one is launched here.
//
// One request of its owner, then the process ends, and the tool writes its report:
//   {"op":"launch","shapes":[{"plan":{...},"inputs":[{"name","bytes"}...],"outputs":[{"name","bytes"}...]}...]}
//   + cubin, then the inputs' content, shape by shape           {"ok": true}, or {"failed": what} after an error
#pragma once

#include "sandbox/process/channel.h"

namespace sandbox::cuda::run {

// Opens the device, greets, and serves one request. Throws core::SystemError when there is no such device.
void serve_watched_role(process::Channel& owner, int device_index);

}  // namespace sandbox::cuda::run
