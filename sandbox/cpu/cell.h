// A cell: a process of its own that holds one candidate and runs its launches when the judge says so.
//
// Messages from the judge and their answers:
//   (first, unasked)                                    {"loaded": true} or {"refused": text}
//   {"op":"map","buffers":[{name,bytes,writable}]}+fds  {"ok": true}
//   {"op":"plan","launches":[...],"zeroed":[name]}      {"ok": true} or {"fault": ...}
//   {"op":"go","order":0..2,"seed":n}                   {"ok": true} or {"fault": ...}
//   {"op":"ping"}                                       {"ok": true}
#pragma once

#include "core/unique_fd.h"
#include "sandbox/channel.h"
#include "sandbox/compilation.h"

namespace sandbox::cpu {

struct CellLimits {
  size_t address_space_bytes = size_t{8} << 30;
  unsigned processor_s = 120;
};

// The exit status of a cell whose own side failed, whatever the candidate is like.
inline constexpr int kCellFailed = 70;

// Loads the candidate, locks the process for good, and serves the judge until it hangs up. Never returns.
[[noreturn]] void serve_cell(Channel judge, core::UniqueFd binary, Build build, const CellLimits& limits);

}  // namespace sandbox::cpu
