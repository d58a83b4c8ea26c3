// The judge worker, on every kind of device: it holds a problem's reference, draws inputs, has candidates launched in
// their processes, and compares. It never holds a candidate's code.
//
// Requests of its owner:
//   {"op":"problem","problem":text,"folder":path,"reference":{header,binding},"naive":{header,binding},"look":bool}
//       + reference binary, naive binary             {"ok": true}, or {"refused": text, "remedy": text}
//   {"op":"judge","candidate":{header,binding},"incumbent":{header,binding},"effort":name,"seed":n,"library":bool,
//    "check":{...},"timing":{...}}
//       + channels to the incumbent's process, the candidate's, its checking build's where there is one    a Judgement
// and those that JudgeDevice::answer() knows. With "library": true the candidate's process is a library's, checked with
// one draw of each test shape.
#pragma once

#include "sandbox/process/channel.h"
#include "verifier/judging/judge_device.h"

namespace verifier::judging {

// Serves until the owner hangs up, which throws sandbox::process::ChannelClosed. Failures of a request are answered.
void serve_judge(sandbox::process::Channel& owner, JudgeDevice& device);

}  // namespace verifier::judging
