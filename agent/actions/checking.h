// Finds faults in a solution without running it.
#pragma once

#include <string>

#include "core/strict_json.h"
#include "sandbox/compile_pool.h"
#include "sandbox/solution.h"
#include "verifier/verdicts/judgement.h"

namespace agent::actions {

struct Checked {
  std::string target;  // "the cpu device", "sm_90"
  double compile_ms = 0;
  core::Json facts;  // target, compile_ms, binary_hash; registers, shared_bytes, spill_bytes, ... where reported
};

// Compiles a point and compares the plan's arguments with the kernels' parameters. Throws core::InputError with the
// place; its remedy is the compiler's log. `effort`: of the judgement whose builds are checked.
Checked check_builds(sandbox::CompilePool& pool, const sandbox::Solution& solution,
                     const sandbox::TunableBinding& binding, verifier::verdicts::Effort effort,
                     const std::string& target);

// "compiles for sm_90 in 12 ms: 32 registers, 0 bytes of shared memory, 0 bytes spilled"
std::string checked_words(const Checked& checked);

}  // namespace agent::actions
