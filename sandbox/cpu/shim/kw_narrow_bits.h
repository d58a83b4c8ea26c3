// Numbers of 16 and 8 bits as bits: conversions from and to float, each rounding once, and what an operation on them
// needs to round once. A NaN becomes 0x7fff, or 0x7f, as the toolkit has it.
#pragma once

#include "kw_language.h"

enum class __kw_direction { nearest, zero, down, up };

// The bits of `value` in the format of 1 sign bit, 15 - mantissa_bits exponent bits and mantissa_bits.
template <int mantissa_bits>
KW_DEVICE unsigned short __kw_narrow(float value, __kw_direction direction) {
  constexpr int dropped = 23 - mantissa_bits;
  constexpr unsigned infinity = 0x8000u - (1u << mantissa_bits);
  constexpr unsigned fewer_exponents = 127 - (0x3fff >> mantissa_bits);
  const unsigned bits = __kw_bits<unsigned>(value), sign = bits >> 31, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude == 0x7f800000u) return static_cast<unsigned short>(sign << 15 | infinity);
  unsigned kept, rest;  // rest: in 2^-32 of the last bit kept
  const unsigned exponent = magnitude >> 23;
  if (exponent > fewer_exponents) {
    kept = (magnitude - (fewer_exponents << 23)) >> dropped;
    rest = magnitude << (32 - dropped);
    if (kept >= infinity) {
      kept = infinity - 1;
      rest = 0xffffffffu;
    }
  } else {
    const unsigned significand = exponent == 0 ? magnitude : (magnitude & 0x7fffffu) | 0x800000u;
    const unsigned shift = dropped + 1 + fewer_exponents - (exponent == 0 ? 1 : exponent);
    kept = shift > 31 ? 0 : significand >> shift;
    rest = shift > 31 ? significand != 0 : significand << (32 - shift);
  }
  bool away = false;
  if (direction == __kw_direction::nearest) away = rest > 0x80000000u || (rest == 0x80000000u && (kept & 1) != 0);
  if (direction == __kw_direction::down) away = rest != 0 && sign != 0;
  if (direction == __kw_direction::up) away = rest != 0 && sign == 0;
  return static_cast<unsigned short>(sign << 15 | (kept + away));
}

// Rounding to odd: the last bit is set when the true value lies beside the result. What is rounded so can be rounded
// once more, to at least two bits fewer, as if it were exact.
KW_DEVICE float __kw_to_odd(float nearest, float error) {
  unsigned bits = __kw_bits<unsigned>(nearest);
  if (!(error < 0 || error > 0)) return nearest;
  bits -= (error < 0) != (bits >> 31 != 0);
  return __kw_bits<float>(bits | 1u);
}
KW_DEVICE double __kw_to_odd(double nearest, double error) {
  unsigned long long bits = __kw_bits<unsigned long long>(nearest);
  if (!(error < 0 || error > 0)) return nearest;
  bits -= (error < 0) != (bits >> 63 != 0);
  return __kw_bits<double>(bits | 1u);
}
KW_DEVICE float __kw_odd_float(float value) { return value; }
KW_DEVICE float __kw_odd_float(double value) {
  const float nearest = static_cast<float>(value);
  const float error = value > static_cast<double>(nearest) ? 1 : value < static_cast<double>(nearest) ? -1 : 0;
  return __kw_to_odd(nearest, error);
}
KW_DEVICE float __kw_odd_float(int value) { return __kw_odd_float(static_cast<double>(value)); }
KW_DEVICE float __kw_odd_float(unsigned value) { return __kw_odd_float(static_cast<double>(value)); }
KW_DEVICE float __kw_odd_float(unsigned long long value) {
  const unsigned long long below = value & 0x7ff;
  if (value >> 53 != 0) value = (value - below) | static_cast<unsigned long long>(below != 0) << 11;
  return __kw_odd_float(static_cast<double>(value));
}
KW_DEVICE float __kw_odd_float(long long value) {
  const unsigned long long magnitude = static_cast<unsigned long long>(value);
  return value < 0 ? -__kw_odd_float(0 - magnitude) : __kw_odd_float(magnitude);
}
KW_DEVICE float __kw_odd_float(long value) { return __kw_odd_float(static_cast<long long>(value)); }
KW_DEVICE float __kw_odd_float(unsigned long value) { return __kw_odd_float(static_cast<unsigned long long>(value)); }

// x * y + z, rounded to odd. In Wide the product must be exact and no sum may overflow: float has the room for halves,
// bfloat16 with its wide exponents needs double. (Plain fmaf would round twice: 3 * 683/2048 + 2^-24 lies just above
// the middle between two halves, in float it lies on it.)
template <typename Wide>
KW_DEVICE float __kw_fused(float x, float y, float z) {
  const Wide product = static_cast<Wide>(x) * static_cast<Wide>(y), added = static_cast<Wide>(z);
  const Wide sum = product + added;
  const Wide back = sum - product;
  const Wide error = (product - (sum - back)) + (added - back);
  return __kw_odd_float(__kw_to_odd(sum, error));
}

// ---- half

// The processor's own conversions where it has them; tests define KW_HALF_IN_SOFTWARE to do without. On x86-64 not by
// way of _Float16: g++ would calculate in that type.
KW_DEVICE unsigned short __kw_half_bits(float value) {
#if defined(__F16C__) && !defined(KW_HALF_IN_SOFTWARE)
  typedef float Floats __attribute__((vector_size(16)));
  const unsigned short bits = static_cast<unsigned short>(__builtin_ia32_vcvtps2ph(Floats{value}, 0)[0]);
  return value != value ? 0x7fff : bits;
#elif defined(__aarch64__) && !defined(KW_HALF_IN_SOFTWARE)
  const __fp16 half = static_cast<__fp16>(value);
  unsigned short bits;
  __builtin_memcpy(&bits, &half, sizeof bits);
  return value != value ? 0x7fff : bits;
#else
  return __kw_narrow<10>(value, __kw_direction::nearest);
#endif
}
KW_DEVICE float __kw_half_value(unsigned short bits) {
  const unsigned magnitude = bits & 0x7fffu;
  if (magnitude > 0x7c00) return __kw_bits<float>(0x7fffffff);
#if defined(__F16C__) && !defined(KW_HALF_IN_SOFTWARE)
  typedef short Shorts __attribute__((vector_size(16)));
  return __builtin_ia32_vcvtph2ps(Shorts{static_cast<short>(bits)})[0];
#elif defined(__aarch64__) && !defined(KW_HALF_IN_SOFTWARE)
  __fp16 half;
  __builtin_memcpy(&half, &bits, sizeof half);
  return static_cast<float>(half);
#else
  // A float with the half's fields in place is 2^-112 of it, denormal or not.
  const float size = magnitude == 0x7c00 ? __builtin_inff() : __kw_bits<float>(magnitude << 13) * 0x1p112f;
  return (bits & 0x8000) != 0 ? -size : size;
#endif
}

// A pair, the first in the lower half: converted at once where the processor can.
KW_DEVICE unsigned __kw_half_bits_of_two(float x, float y) {
#if defined(__F16C__) && !defined(KW_HALF_IN_SOFTWARE)
  typedef float Floats __attribute__((vector_size(16)));
  typedef int Ints __attribute__((vector_size(16)));
  if (x == x && y == y) return reinterpret_cast<Ints>(__builtin_ia32_vcvtps2ph(Floats{x, y}, 0))[0];
#endif
  return __kw_half_bits(x) | static_cast<unsigned>(__kw_half_bits(y)) << 16;
}
KW_DEVICE void __kw_half_values_of_two(unsigned bits, float& x, float& y) {
#if defined(__F16C__) && !defined(KW_HALF_IN_SOFTWARE)
  typedef short Shorts __attribute__((vector_size(16)));
  typedef int Ints __attribute__((vector_size(16)));
  const auto values = __builtin_ia32_vcvtph2ps(reinterpret_cast<Shorts>(Ints{static_cast<int>(bits)}));
  x = values[0] == values[0] ? values[0] : __kw_bits<float>(0x7fffffff);
  y = values[1] == values[1] ? values[1] : __kw_bits<float>(0x7fffffff);
#else
  x = __kw_half_value(static_cast<unsigned short>(bits));
  y = __kw_half_value(static_cast<unsigned short>(bits >> 16));
#endif
}

// ---- bfloat16

KW_DEVICE unsigned short __kw_bfloat16_bits(float value) {
  const unsigned bits = __kw_bits<unsigned>(value);
  // A carry goes on into the exponent, where it should; half way goes up if the last bit kept is set.
  return value != value ? 0x7fff : static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
KW_DEVICE float __kw_bfloat16_value(unsigned short bits) { return __kw_bits<float>(static_cast<unsigned>(bits) << 16); }

KW_DEVICE unsigned __kw_bfloat16_bits_of_two(float x, float y) {
  return __kw_bfloat16_bits(x) | static_cast<unsigned>(__kw_bfloat16_bits(y)) << 16;
}
KW_DEVICE void __kw_bfloat16_values_of_two(unsigned bits, float& x, float& y) {
  x = __kw_bits<float>(bits << 16);
  y = __kw_bits<float>(bits & 0xffff0000u);
}

// ---- e4m3 and e5m2

// To nearest, of two equally near ones the even one. A NaN becomes 0x7f. The float may have been rounded to odd.
KW_DEVICE unsigned char __kw_fp8_bits(float x, bool e4m3, bool saturate) {
  const unsigned fraction = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15, dropped = 23 - fraction;
  const unsigned end = e4m3 ? 0x7f : 0x7c;  // the code after the largest number's: NaN, or infinity
  const unsigned bits = __kw_bits<unsigned>(x), magnitude = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
  if (magnitude > 0x7f800000u) return 0x7f;
  // A denormal is a number of steps of the least one, which the float gets as its lowest bits.
  const float steps = __kw_bits<float>(magnitude) * (e4m3 ? 0x1p9f : 0x1p16f) + 0x1p23f;
  const unsigned half = (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
  unsigned code = ((magnitude + half) >> dropped) - ((127 - bias) << fraction);
  if (magnitude < (128 - bias) << 23) code = __kw_bits<unsigned>(steps) & 0xff;
  if (code >= end && magnitude >= (128 - bias) << 23) code = saturate ? end - 1 : end;
  return static_cast<unsigned char>(sign | code);
}
KW_DEVICE float __kw_fp8_value(unsigned char x, bool e4m3) {
  if (!e4m3) return __kw_half_value(static_cast<unsigned short>(x << 8));  // half's upper byte
  const unsigned magnitude = x & 0x7fu;
  if (magnitude == 0x7f) return __kw_bits<float>(0x7fffffff);
  const float size = magnitude < 8 ? static_cast<float>(magnitude) * 0x1p-9f
                                   : __kw_bits<float>((magnitude << 20) + (120u << 23));
  return (x & 0x80) != 0 ? -size : size;
}
