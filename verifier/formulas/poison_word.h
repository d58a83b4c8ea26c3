// The poison that fills what a candidate must write.
#pragma once

#include <cstdint>

#include "verifier/formulas/philox.h"

namespace verifier::formulas {

// The bits that every word of such a poison has in common, and their values.
struct PoisonKind {
  uint64_t fixed, value;
  double random_share;  // of all bits
};
// The two top bits of the key choose: random bits (half of the keys), NaNs of f32 with random payloads, or f32 from 1
// to 2.
HOST_DEVICE PoisonKind poison_kind(uint64_t key) {
  if (key >> 62 == 2) return {0x7F8000007F800000ull, 0x7F8000007F800000ull, 24.0 / 32};
  if (key >> 62 == 3) return {0xFF800000FF800000ull, 0x3F8000003F800000ull, 23.0 / 32};
  return {0, 0, 1};
}

// The 8 bytes of poison at this index: SplitMix64 (Steele, Lea, Flood 2014), with the fixed bits of the key's kind.
HOST_DEVICE uint64_t poison_word(uint64_t key, int64_t index) {
  uint64_t z = key + (static_cast<uint64_t>(index) + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  const PoisonKind kind = poison_kind(key);
  return (z & ~kind.fixed) | kind.value;
}

// Do any elements of `element_bytes` in two words agree? (The known test for a zero part of a word.)
template <typename Element>
HOST_DEVICE bool any_agrees(uint64_t a, uint64_t b) {
  constexpr uint64_t kOnes = ~static_cast<uint64_t>(0) / static_cast<Element>(-1);
  constexpr uint64_t kTops = kOnes << (8 * sizeof(Element) - 1);
  const uint64_t x = a ^ b;
  return ((x - kOnes) & ~x & kTops) != 0;
}

}  // namespace verifier::formulas
