#include "sandbox/cpu/memory/shared_matrix.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace sandbox::cpu::memory {
namespace {
// A small float by its bits: `exponent_bits` and `mantissa_bits` behind the sign.
float small_float(uint32_t bits, int exponent_bits, int mantissa_bits, bool has_infinity) {
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1), last = (1u << exponent_bits) - 1;
  const bool negative = (bits >> (exponent_bits + mantissa_bits) & 1) != 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  float value = 0;
  if (has_infinity && exponent == last) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else if (!has_infinity && exponent == last && mantissa == (1u << mantissa_bits) - 1) {
    value = NAN;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
  } else {
    value = std::ldexp(static_cast<float>(mantissa + (1u << mantissa_bits)),
                       static_cast<int>(exponent) - bias - mantissa_bits);
  }
  return negative ? -value : value;
}

template <int count>
std::vector<float> table(int exponent_bits, int mantissa_bits, bool has_infinity) {
  std::vector<float> values(count);
  for (uint32_t bits = 0; bits < count; ++bits) {
    values[bits] = small_float(bits, exponent_bits, mantissa_bits, has_infinity);
  }
  return values;
}

template <typename T>
T element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
}  // namespace

int bytes_of(ElementType type) {
  return type == ElementType::tf32 ? 4 : type == ElementType::bf16 || type == ElementType::f16 ? 2 : 1;
}

float value_of(ElementType type, const std::byte* at) {
  switch (type) {
    case ElementType::bf16:
    case ElementType::tf32: {
      // tf32: the lower 13 bits of a float do not count.
      const uint32_t bits =
          type == ElementType::bf16 ? uint32_t{element<uint16_t>(at)} << 16 : element<uint32_t>(at) & ~0x1fffu;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    case ElementType::f16: {
      static const std::vector<float> values = table<65536>(5, 10, true);
      return values[element<uint16_t>(at)];
    }
    case ElementType::e4m3: {
      static const std::vector<float> values = table<256>(4, 3, false);
      return values[element<uint8_t>(at)];
    }
    case ElementType::e5m2: {
      static const std::vector<float> values = table<256>(5, 2, true);
      return values[element<uint8_t>(at)];
    }
    case ElementType::s8:
      return element<int8_t>(at);
    case ElementType::u8:
      return element<uint8_t>(at);
  }
  return 0;
}

uint32_t SharedMatrix::place(uint32_t at, uint32_t k) const {
  const auto width = static_cast<uint32_t>(swizzle_);
  if (along_k_) {
    if (swizzle_ == 0) return start_ + at / 8 * stride_ + k / kBytesOfChunk * leading_ + at % 8 * kBytesOfChunk;
    return swizzled(start_ + at / 8 * stride_ + at % 8 * width + k, swizzle_);
  }
  if (swizzle_ == 0) return start_ + at / 8 * stride_ + k / 8 * leading_ + k % 8 * kBytesOfChunk;
  const uint32_t across = width / 2;
  return swizzled(start_ + at / across * leading_ + k / 8 * stride_ + k % 8 * width + at % across * 2, swizzle_);
}

}  // namespace sandbox::cpu::memory
