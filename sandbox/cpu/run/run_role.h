// The run worker of the cpu device: starts, limits, kills and collects candidate processes, and stands between each and
// its judge (candidate_processes.h). It never runs a candidate itself.
//
// Requests of its owner:
//   {"op":"open","build":"fast"|"check"} + binary   {"process": pid} + the judge's end of a channel: messages as in
//                                                   candidate_process.h; every answer has "elapsed_us" of processor
//                                                   time
//   {"op":"close","process":pid}                       {"exit": status} or {"signal": number} if it had ended;
//                                                   {"failed": true} if it had, on our side;
//                                                   {"killed": true} if it was still running
#pragma once

#include "sandbox/process/channel.h"

namespace sandbox::cpu::run {

// Locks the process, greets, and serves until the owner hangs up. Throws core::SystemError when the jail fails.
void serve_run_role(process::Channel& owner);

}  // namespace sandbox::cpu::run
