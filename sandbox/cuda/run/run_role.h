// A run worker of a GPU: holds one candidate at a time and launches it as the judge asks. One process, because the
// driver does not survive a fork; replaced by its owner after a fault of the device.
//
// Requests of its owner:
//   {"op":"prove"} + cubin of run_kernels.cu    launches a kernel whose result is known; the others serve between a
//                                               candidate's launches    {"ok": true}
//   {"op":"open"} + cubin    a cell, served until the judge hangs up    {"cell": n} + the judge's end of its channel
//   {"op":"close","cell":n}                                             {"killed": true}
#pragma once

#include "sandbox/process/channel.h"

namespace sandbox::cuda::run {

// Opens the device, locks the process, greets, and serves until the owner hangs up. Throws core::SystemError when there
// is no such device.
void serve_run_role(process::Channel& owner, int device_index);

}  // namespace sandbox::cuda::run
