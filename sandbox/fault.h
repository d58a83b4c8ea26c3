// A fault that a candidate caused at run time, with its location.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include "core/enum_names.h"

namespace sandbox {

enum class FaultKind {
  out_of_bounds,   // global or shared memory outside its buffer
  misaligned,      // an access not aligned to its type
  uninitialised,   // shared memory read before it was written, or outputs that depend on unset local variables
  race,            // two threads touch shared memory without a barrier between them
  deadlock,        // no thread can continue
  warp_misuse,     // lying masks, lanes in different warp operations
  trap,            // __trap, assert, integer division by zero
  resource_limit,  // stack beyond the device's limit
  invalid_launch,  // the launch does not fit the kernel or the device: arguments, block size, shared memory
  unsupported,     // code that this device cannot execute
};

KW_ENUM_NAMES(FaultKind, out_of_bounds, misaligned, uninitialised, race, deadlock, warp_misuse, trap, resource_limit,
              invalid_launch, unsupported)

struct Fault {
  FaultKind kind;
  std::string message;  // one sentence, without the location
  std::string kernel;
  std::optional<std::array<int64_t, 3>> block;   // x, y, z
  std::optional<std::array<int64_t, 3>> thread;  // x, y, z
  std::optional<int64_t> line;                   // in the solution file, 1-based

  // "out_of_bounds in kernel k, block (3,0,0), thread (232,0,0), line 7: reads 4 bytes at offset 4000 of ..."
  std::string describe() const;
};

}  // namespace sandbox
