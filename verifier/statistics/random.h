// The judge's random numbers: reproducible from a key, unpredictable without it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace verifier::statistics {

// Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror, Shaw 2011): four 32-bit numbers for a counter and a
// key.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * counter[0], b = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// A key's sequence of 32-bit numbers.
class Stream {
 public:
  explicit Stream(uint64_t key) : key_{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)} {}

  uint32_t next() {
    if (at_ == block_.size()) {
      block_ = philox({static_cast<uint32_t>(counter_), static_cast<uint32_t>(counter_ >> 32), 0, 0}, key_);
      ++counter_;
      at_ = 0;
    }
    return block_[at_++];
  }
  double unit() { return next() * 0x1p-32; }  // [0, 1)
  // Uniform in [0, count), to within 2^-32 count; a count of 0 stands for 2^64.
  uint64_t below(uint64_t count) {
    if (count != 0 && count <= uint64_t{1} << 32) return next() * count >> 32;
    const uint64_t high = next(), wide = high << 32 | next();
    return count == 0 ? wide : wide % count;
  }
  float normal();  // N(0,1), ends at 4.8

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> block_{};
  uint64_t counter_ = 0;
  size_t at_ = 4;
};

}  // namespace verifier::statistics
