// Patterns that fill what a candidate must write, and what it must not touch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/dtype.h"

namespace verifier::draws {

// Fills an output or workspace. The bytes are pseudo-random for `key`, so that no candidate can recognise or restore
// them. The two top bits of the key choose between random bits (half of the keys), NaNs of f32 with random payloads,
// which whoever reads them passes on, and plausible numbers (f32 from 1 to 2), which look like results.
void fill_poison(std::span<std::byte> bytes, uint64_t key);

struct Survivors {
  int64_t count = 0;
  int64_t first = 0;  // index of the first element that still holds its poison
};
// Elements of `element_bytes` (1, 2, 4 or 8) that still hold the poison of `key`. An element agrees with its poison by
// chance (an f16 once in 65536), so only runs are counted that are too long for that: among all elements chance makes
// one in a million calls at most. A shorter remainder is for the comparison to find: it is random bits, hence wrong.
Survivors find_poison(std::span<const std::byte> bytes, size_t element_bytes, uint64_t key);

// The shortest run that counts among so many elements.
int64_t least_run(size_t element_bytes, size_t elements, uint64_t key);

// Are all bytes still the poison of `key`? For slack, which nobody may write.
bool untouched(std::span<const std::byte> bytes, uint64_t key);

}  // namespace verifier::draws
