// The run worker of the cpu device: starts, limits, kills and collects cells, and stands between each and its judge
// (cells.h). It never runs a candidate itself.
//
// Requests of its owner:
//   {"op":"open","build":"fast"|"check"} + binary   {"cell": pid} + the judge's end of a channel: what cell.h has,
//                                                   and in every answer "elapsed_us" of a processor for it
//   {"op":"close","cell":pid}                       {"exit": status}, {"signal": number}: it had ended so;
//                                                   {"failed": true}: it had, on our side
//                                                   {"killed": true}: it was still running
#pragma once

#include "sandbox/process/channel.h"

namespace sandbox::cpu::run {

// Locks the process, greets, and serves until the owner hangs up. Throws core::SystemError when the jail fails.
void serve_run_role(process::Channel& owner);

}  // namespace sandbox::cpu::run
