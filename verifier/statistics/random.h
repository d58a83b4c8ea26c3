// The judge's random numbers: reproducible from a key, unpredictable without it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "verifier/formulas/philox.h"

namespace verifier::statistics {

// The quantile function of N(0,1) at drawn / 2^32, interpolated between 8193 equidistant probabilities, with the ends
// at 2^-20. The tails matter: the outermost intervals reach from 3.7 to 4.8.
class NormalQuantile {
 public:
  static constexpr size_t kCells = 8192;

  NormalQuantile() : knots_(knots().data()) {}
  float operator()(uint32_t drawn) const {
    const float* const cell = knots_ + (drawn >> 19);
    return cell[0] + static_cast<float>(drawn & 0x7FFFF) * 0x1p-19f * (cell[1] - cell[0]);
  }

 private:
  static const std::array<float, kCells + 1>& knots();  // made by the first call

  const float* knots_;
};

// A key's sequence of 32-bit numbers.
class Stream {
 public:
  explicit Stream(uint64_t key) : key_(key) {}

  uint32_t next() {
    if (at_ == block_.size()) {
      const formulas::Quad drawn =
          formulas::philox({static_cast<uint32_t>(counter_), static_cast<uint32_t>(counter_ >> 32), 0, 0}, key_);
      block_ = {drawn.x, drawn.y, drawn.z, drawn.w};
      ++counter_;
      at_ = 0;
    }
    return block_[at_++];
  }
  double unit() { return next() * 0x1p-32; }  // [0, 1)
  // Uniform in [0, count), to within 2^-32 count; a count of 0 stands for 2^64.
  uint64_t below(uint64_t count) {
    const uint32_t high = next();
    return formulas::below(count, high, count != 0 && count <= uint64_t{1} << 32 ? 0 : next());
  }
  float normal() { return NormalQuantile()(next()); }

 private:
  uint64_t key_;
  std::array<uint32_t, 4> block_{};
  uint64_t counter_ = 0;
  size_t at_ = 4;
};

}  // namespace verifier::statistics
