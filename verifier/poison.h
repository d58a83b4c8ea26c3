// Patterns that fill what a candidate must write, and what it must not touch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/dtype.h"

namespace verifier {

// Fills an output or workspace. The bytes are pseudo-random for `key`, so that no candidate can recognise or restore
// them.
void fill_poison(std::span<std::byte> bytes, uint64_t key);

struct Survivors {
  int64_t count = 0;
  int64_t first = 0;  // index of the first element that still holds its poison
};
// Elements of `element_bytes` that still hold the poison of `key`. Elements of one byte agree with their poison by
// chance once in 256, so a run of fewer than 4 of them is not counted.
Survivors find_poison(std::span<const std::byte> bytes, size_t element_bytes, uint64_t key);

// Are all bytes still the poison of `key`? For slack, which nobody may write.
bool untouched(std::span<const std::byte> bytes, uint64_t key);

}  // namespace verifier
