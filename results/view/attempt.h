// An attempt in full, for its page: the judge's finding with what to do about it, its times, and where its solution
// came from.
//
// Besides what it has in brief (json.h): hash, descent, registers, shared_bytes, spill_bytes, verdict (its fields),
// advice, near {first, line, lines} (the source around the line that the verdict names), compile_log, environment,
// stages {compile_ms, check_ms, timing_ms, audit_ms, sanitizer_ms, host_wait_ms}, timing (null: not timed) {clock,
// outcome, speed_up, against, against_hash, stopped_early, workloads [{workload, time_us, incumbent_us, speed_up,
// bound_us, share_of_bound, weight, pairs, left_out, throttled}], counters}, proposed_by (an Exchange, exchange.h),
// parent {solution, hash}, difference (a unified diff to its parent), later [an Exchange with limit and advice] and
// findings {exchange, number, text}: what the first of them told the model about the solution.
#pragma once

#include "core/strict_json.h"
#include "results/archive/recorder.h"

namespace results::view {

// Texts are cleaned and cut: fit to show. Throws core::InputError if there is no such attempt.
core::Json attempt_json(const archive::Reader& archive, int64_t attempt);

}  // namespace results::view
