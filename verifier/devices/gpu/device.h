// The judge worker of a GPU: device memory that the judge owns and lends to run workers by descriptor; trusted code and
// the judge's own kernels run in the judge's context.
#pragma once

#include "sandbox/gpu/run/platform.h"
#include "sandbox/process/channel.h"

namespace verifier::devices::gpu {

// Opens the device, locks the process, greets, and serves (judging/session.h) until the owner hangs up. Throws
// core::SystemError. Two requests are its own: before any problem
//   {"op":"kernels"} + binary of the judge's kernels       {"ok": true}
// and at any time
//   {"op":"calibrate"} + binaries (calibration.h)           {"calibration": ...}
void serve_judge_role(sandbox::process::Channel& owner, const sandbox::gpu::run::Platform& platform, int device_index);

}  // namespace verifier::devices::gpu
