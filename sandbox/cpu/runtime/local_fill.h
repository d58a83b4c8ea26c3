// The content of local variables that nobody set (shim/kw_locals.h).
#pragma once

#include <cstdint>

namespace sandbox::cpu::runtime {

struct LocalFill {
  uint64_t bytes;    // eight times the same: of everything but integers
  uint64_t integer;  // a small number, or those bytes
};

// Drawn by the seed of a launch. `second`: one that differs from the first in every bit of `bytes`, and that has a
// small integer where the first has a large one.
inline LocalFill local_fill(uint64_t seed, bool second) {
  constexpr uint64_t kEachByte = 0x0101010101010101, kSmall = 32;
  const uint64_t byte = (seed >> 32 & 0xff) ^ (second ? 0xff : 0), small = (seed >> 40) % kSmall;
  const bool is_small = (seed >> 47 & 1) != static_cast<uint64_t>(second);
  return {byte * kEachByte, is_small ? small : byte * kEachByte};
}

}  // namespace sandbox::cpu::runtime
