#include "verifier/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace verifier {
namespace {
template <typename T>
T load(std::span<const std::byte> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void store(std::span<std::byte> bytes, size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

struct Format {
  int significand;     // bits, the hidden one included
  int least_exponent;  // of the least normal number
};
Format format_of(core::DType dtype) {
  switch (dtype) {
    case core::DType::f16:
      return {11, -14};
    case core::DType::bf16:
      return {8, -126};
    case core::DType::f32:
      return {24, -126};
    default:
      return {53, -1022};
  }
}

// Rounds to the format's grid, ties to even. The result may pass the format's largest number.
double round_to(const Format& format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), format.least_exponent);
  const double unit = std::ldexp(1.0, exponent - format.significand + 1);
  return std::nearbyint(value / unit) * unit;
}

uint16_t to_bf16(double value) {
  if (std::isnan(value)) return 0x7FC0;
  const auto rounded = static_cast<float>(round_to(format_of(core::DType::bf16), value));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded) >> 16);
}
}  // namespace

uint16_t to_f16(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7E00;
  const double magnitude = std::fabs(round_to(format_of(core::DType::f16), value));
  if (magnitude > 65504) return sign | 0x7C00;
  if (magnitude < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<uint16_t>(magnitude * 0x1p24));
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<uint16_t>(std::ldexp(magnitude, 10 - exponent) - 1024);
  return static_cast<uint16_t>(sign | ((exponent + 15) << 10) | fraction);
}

double from_f16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double magnitude = std::ldexp(fraction, -24);
  if (exponent == 31) magnitude = fraction == 0 ? INFINITY : NAN;
  if (exponent > 0 && exponent < 31) magnitude = std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double load_element(core::DType dtype, std::span<const std::byte> bytes, size_t index) {
  switch (dtype) {
    case core::DType::f16:
      return from_f16(load<uint16_t>(bytes, index));
    case core::DType::bf16:
      return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(bytes, index)) << 16);
    case core::DType::f32:
      return load<float>(bytes, index);
    case core::DType::f64:
      return load<double>(bytes, index);
    case core::DType::i8:
      return load<int8_t>(bytes, index);
    case core::DType::u8:
      return load<uint8_t>(bytes, index);
    case core::DType::i32:
      return load<int32_t>(bytes, index);
    case core::DType::u32:
      return load<uint32_t>(bytes, index);
    case core::DType::i64:
      return static_cast<double>(load<int64_t>(bytes, index));
  }
  return NAN;
}

void store_element(core::DType dtype, std::span<std::byte> bytes, size_t index, double value) {
  switch (dtype) {
    case core::DType::f16:
      return store(bytes, index, to_f16(value));
    case core::DType::bf16:
      return store(bytes, index, to_bf16(value));
    case core::DType::f32:
      return store(bytes, index, static_cast<float>(value));
    case core::DType::f64:
      return store(bytes, index, value);
    case core::DType::i8:
      return store(bytes, index, static_cast<int8_t>(value));
    case core::DType::u8:
      return store(bytes, index, static_cast<uint8_t>(value));
    case core::DType::i32:
      return store(bytes, index, static_cast<int32_t>(value));
    case core::DType::u32:
      return store(bytes, index, static_cast<uint32_t>(value));
    case core::DType::i64:
      return store(bytes, index, static_cast<int64_t>(value));
  }
}

double ulp_at(core::DType dtype, double value) {
  if (!core::is_floating(dtype)) return 0;
  const Format format = format_of(dtype);
  const int exponent =
      value == 0 || !std::isfinite(value) ? format.least_exponent : std::max(std::ilogb(value), format.least_exponent);
  return std::ldexp(1.0, exponent - format.significand + 1);
}

}  // namespace verifier
