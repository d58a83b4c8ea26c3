// A candidate process: it holds one candidate and runs its launches when the judge asks.
//
// It stops itself (SIGSTOP) after every answer, and its run worker continues it when there is a request. So a candidate
// runs only while the judge's clock runs, and its outputs are read only while it is stopped.
//
// Messages from the judge, through the run worker, and their answers:
//   (first, unasked)                                    {"loaded": true} or {"refused": text}
//   {"op":"map","buffers":[{name,bytes,writable}]}+fds  {"ok": true}
//   {"op":"plan","launches":[...],"zeroed":[name]}      {"ok": true} or {"fault": ...}
//   {"op":"go","order":0..3,"seed":n}                   {"ok": true} or {"fault": ...}
//   {"op":"coverage"}                                   {"ok": true, "not_run": [line]} in the covering build
//   {"op":"ping"}                                       {"ok": true}
#pragma once

#include "core/unique_fd.h"
#include "sandbox/compilation.h"
#include "sandbox/process/channel.h"

namespace sandbox::cpu::run {

struct CandidateLimits {
  size_t address_space_bytes = size_t{8} << 30;
  size_t data_bytes = size_t{1536} << 20;  // 16384 stacks of CUDA threads, shadow memory, heap; not what it is lent
  unsigned processor_s = 300;              // more than a judgement lasts, whose clock stops whatever does not end
};

// A cooperative launch has the stacks of all its threads at once, and the shadow memory of all its blocks.
inline CandidateLimits limits_of(Build build) {
  CandidateLimits limits;
  if (build == Build::check) {
    limits.address_space_bytes = size_t{14} << 30;
    limits.data_bytes = size_t{6} << 30;
  }
  return limits;
}

// The exit status of a candidate process that failed on our side.
inline constexpr int kCandidateProcessFailed = 70;

// Loads the candidate, locks the process for good, and serves requests until the worker hangs up. Never returns.
[[noreturn]] void serve_candidate(process::Channel worker, core::UniqueFd binary, Build build,
                                  const CandidateLimits& limits);

}  // namespace sandbox::cpu::run
