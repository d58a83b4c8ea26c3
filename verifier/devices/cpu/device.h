// The judge worker of the cpu device: memory files that the judge owns and lends to candidate processes by descriptor;
// trusted code runs in the judge's own process.
#pragma once

#include "sandbox/process/channel.h"

namespace verifier::devices::cpu {

// Locks the process, greets, and serves (judging/session.h) until the owner hangs up. Throws core::SystemError when the
// jail fails.
void serve_judge_role(sandbox::process::Channel& owner);

}  // namespace verifier::devices::cpu
