// The judge worker of the cpu device. It holds the problem's reference, draws inputs, launches candidates in their
// cells and compares; it never holds a candidate's code.
//
// Requests of its owner:
//   {"op":"problem","problem":text,"folder":path,"reference":{header,binding},"naive":{header,binding}}
//       + reference binary, naive binary                                             {"ok": true}
//   {"op":"judge","candidate":{header,binding},"incumbent":{header,binding},"effort":name,"seed":n,"check":{...},
//    "timing":{...}} + channels to the check cell, the fast cell, the incumbent's    a Judgement
#pragma once

#include "sandbox/process/channel.h"

namespace verifier::devices::cpu {

// Locks the process, greets, and serves until the owner hangs up. Throws core::SystemError when the jail fails.
void serve_judge_role(sandbox::process::Channel& owner);

}  // namespace verifier::devices::cpu
