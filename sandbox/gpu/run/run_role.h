// The role "run" of a GPU's worker program.
#pragma once

#include "sandbox/gpu/run/platform.h"
#include "sandbox/process/channel.h"

namespace sandbox::gpu::run {

// A run worker of a GPU: holds one candidate at a time and launches it on the judge's request. A single process,
// because the driver does not survive a fork; its owner replaces it after a fault of the device. Opens the device,
// locks the process, greets, and serves until its owner hangs up.
//
// Requests of its owner:
//   {"op":"prove"} + binary of run_kernels.cu   launches a kernel with a known result; its other kernels run between a
//                                               candidate's launches    {"ok": true}
//   {"op":"open"} + binary   a candidate, served until the judge hangs up    {"process": n} + the judge's end of its
//   channel
//   {"op":"close","process":n}                                             {"killed": true}
// Throws core::SystemError when there is no such device.
void serve_run_role(process::Channel& owner, const Platform& platform, int device_index);

}  // namespace sandbox::gpu::run
