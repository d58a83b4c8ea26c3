// Formats of 16 bits as arithmetic in double and integers: what tests hold the device's half and bfloat16 against.
#pragma once

#include <cmath>
#include <cstdint>

namespace sandbox::cpu::test {

enum class Rounding { nearest, zero, down, up };
constexpr uint16_t kNarrowNan = 0x7fff;

struct NarrowFormat {
  const char* name;  // as functions of the toolkit have it
  const char* type;
  int mantissa_bits;

  int bias() const { return 0x3fff >> mantissa_bits; }
  uint16_t infinity() const { return static_cast<uint16_t>(0x8000 - (1 << mantissa_bits)); }
  bool is_nan(uint16_t bits) const { return (bits & 0x7fff) > infinity(); }

  double value(uint16_t bits) const {
    const int exponent = (bits & 0x7fff) >> mantissa_bits, hidden = 1 << mantissa_bits, mantissa = bits & (hidden - 1);
    const double size = is_nan(bits)                    ? NAN
                        : (bits & 0x7fff) == infinity() ? HUGE_VAL
                        : exponent == 0                 ? std::ldexp(mantissa, 1 - bias() - mantissa_bits)
                                        : std::ldexp(hidden + mantissa, exponent - bias() - mantissa_bits);
    return (bits & 0x8000) != 0 ? -size : size;
  }

  // `value`, which is off the true result by something of the sign of `beyond` that is smaller than value's last bit.
  uint16_t round(double value, Rounding rounding = Rounding::nearest, double beyond = 0) const {
    if (std::isnan(value)) return kNarrowNan;
    const bool negative = std::signbit(value);
    const int sign = negative ? 0x8000 : 0;
    const double size = std::abs(value);
    if (std::isinf(value)) return static_cast<uint16_t>(sign | infinity());
    if (negative) beyond = -beyond;
    const int least = 1 - bias();
    const int exponent = size == 0 || std::ilogb(size) < least ? least : std::ilogb(size);
    const double units = std::ldexp(size, mantissa_bits - exponent);  // exact, and less than 2^(mantissa_bits + 1)
    double whole = std::floor(units), rest = units - whole;
    if (rest == 0 && beyond < 0) {
      whole -= 1;
      rest = 0.75;
    } else if (rest == 0.5 && beyond != 0) {
      rest = beyond < 0 ? 0.25 : 0.75;
    } else if (rest == 0 && beyond > 0) {
      rest = 0.25;
    }
    const bool away = rounding == Rounding::nearest ? rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)
                      : rounding == Rounding::zero  ? false
                                                    : rest > 0 && negative == (rounding == Rounding::down);
    if (exponent > bias()) {  // above every number of the format
      const bool outwards = rounding == Rounding::nearest || negative == (rounding == Rounding::down);
      return static_cast<uint16_t>(sign | (rounding != Rounding::zero && outwards ? infinity() : infinity() - 1));
    }
    // The bits of neighbours are consecutive; from `least` on each exponent adds 2^mantissa_bits.
    return static_cast<uint16_t>(sign |
                                 (((exponent - least) << mantissa_bits) + static_cast<int>(whole) + (away ? 1 : 0)));
  }

  // a * b + c rounded once: the product is exact in double, and so is the error of the sum.
  uint16_t fused(double a, double b, double c) const {
    const double product = a * b, sum = product + c;
    const double larger = std::abs(product) > std::abs(c) ? product : c, smaller = larger == c ? product : c;
    const double error = std::isfinite(sum) ? smaller - (sum - larger) : 0;
    return round(sum, Rounding::nearest, error);
  }
};

inline constexpr NarrowFormat kHalf{"half", "__half", 10};
inline constexpr NarrowFormat kBfloat16{"bfloat16", "__nv_bfloat16", 7};

}  // namespace sandbox::cpu::test
