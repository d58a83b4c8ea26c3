// Random keys of a judgement, all from one secret seed.
#pragma once

#include <cstdint>

namespace verifier::statistics {

// A stream of 64-bit keys: SplitMix64 (Steele, Lea, Flood 2014). Streams of different seeds do not overlap in practice.
class Keys {
 public:
  explicit Keys(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  // Uniform in [0, count) to within 2^-40 for counts below 2^24.
  uint64_t below(uint64_t count) { return next() % count; }
  bool coin() { return (next() >> 63) != 0; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// A one-way function of a key. Untrusted code may see effects of a key; SplitMix64 is invertible, so they could reveal
// its stream.
uint64_t one_way(uint64_t key);

}  // namespace verifier::statistics
