// The judge worker of a GPU. It holds the problem's reference, draws inputs, has candidates launched in their cells and
// compares; it never holds a candidate's code.
//
// Requests of its owner, as of the cpu device's judge (verifier/cpu/judge_role.h), and before all others:
//   {"op":"kernels"} + cubin of the judge's kernels       {"ok": true}
//   {"op":"calibrate"} + cubins (calibration.h)        a Calibration
// A judgement takes the channels of the incumbent's and the candidate's cell. With "library": true the latter is a
// library's (sandbox/cuda/library_role.h), checked with one draw of each test shape.
#pragma once

#include "sandbox/process/channel.h"

namespace verifier::devices::cuda {

// Opens the device, locks the process, greets, and serves until the owner hangs up. Throws core::SystemError.
void serve_judge_role(sandbox::process::Channel& owner, int device_index);

}  // namespace verifier::devices::cuda
