#include "verifier/draws/elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace verifier::draws {
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
  double largest;
};
Format format_of(core::DType dtype) {
  switch (dtype) {
    case core::DType::f16:
      return {11, -14, 65504};
    case core::DType::bf16:
      return {8, -126, 0x1.FEp127};
    case core::DType::f8e4m3:
      return {4, -6, 448};
    case core::DType::f8e5m2:
      return {3, -14, 57344};
    case core::DType::f32:
      return {24, -126, 0x1.FFFFFEp127};
    default:
      return {53, -1022, std::numeric_limits<double>::max()};
  }
}

// A format of 16 or 8 bits.
struct NarrowFormat {
  int significand, least_exponent;
  uint32_t end;  // the code that follows the largest number's: infinity, or the NaN of a format without one
  uint32_t nan;
};
constexpr NarrowFormat kF16{11, -14, 0x7C00, 0x7E00}, kBf16{8, -126, 0x7F80, 0x7FC0}, kF8e4m3{4, -6, 0x7F, 0x7F},
    kF8e5m2{3, -14, 0x7C, 0x7F};

// The bits of `value` in a narrow format, rounded once, to nearest even. Works on the bits of the double: rounding
// there carries into the exponent by itself.
template <NarrowFormat kFormat, typename Bits>
Bits to_narrow(double value) {
  constexpr int kFraction = kFormat.significand - 1, kDropped = 52 - kFraction;
  constexpr uint64_t kBias = 1 - kFormat.least_exponent;
  const uint64_t bits = std::bit_cast<uint64_t>(value), magnitude = bits & ~(uint64_t{1} << 63);
  const auto sign = static_cast<uint32_t>(bits >> 63 << (8 * sizeof(Bits) - 1));
  if (std::isnan(value)) return static_cast<Bits>(kFormat.nan);
  if (std::fabs(value) < std::ldexp(1.0, kFormat.least_exponent)) {  // denormal: whole steps of the least one
    constexpr double kRounder = 0x1p52;
    const double steps = std::fabs(value) * std::ldexp(1.0, kFraction - kFormat.least_exponent) + kRounder;
    return static_cast<Bits>(sign | static_cast<uint32_t>(steps - kRounder));
  }
  const uint64_t half = (uint64_t{1} << (kDropped - 1)) - 1 + (magnitude >> kDropped & 1);
  const uint64_t moved = ((magnitude + half) >> kDropped) - ((1023 - kBias) << kFraction);
  return static_cast<Bits>(sign | static_cast<uint32_t>(std::min<uint64_t>(moved, kFormat.end)));
}

uint16_t to_bf16(double value) { return to_narrow<kBf16, uint16_t>(value); }
float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
uint8_t to_f8e4m3(double value) { return to_narrow<kF8e4m3, uint8_t>(value); }
uint8_t to_f8e5m2(double value) { return to_narrow<kF8e5m2, uint8_t>(value); }

double from_f8e4m3(uint8_t bits) {
  const uint32_t magnitude = bits & 0x7F;
  constexpr uint32_t kNan = 0x7F, kLeastNormal = 8, kBiasStep = (127 - 7) << 23;
  if (magnitude == kNan) return NAN;
  const double size =
      magnitude < kLeastNormal ? 0x1p-9 * magnitude : double{std::bit_cast<float>((magnitude << 20) + kBiasStep)};
  return (bits & 0x80) != 0 ? -size : size;
}
double from_f8e5m2(uint8_t bits) { return from_f16(static_cast<uint16_t>(bits << 8)); }  // f16's upper half

template <typename T, typename Convert>
void load_all(std::span<const std::byte> bytes, std::vector<double>& values, Convert convert) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(convert(load<T>(bytes, i)));
}
}  // namespace

uint16_t to_f16(double value) { return to_narrow<kF16, uint16_t>(value); }

double from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7FFF;
  constexpr uint32_t kInfinity = 0x7C00, kLeastNormal = 0x400, kBiasStep = (127 - 15) << 23;
  if (magnitude < kLeastNormal) return (sign != 0 ? -0x1p-24 : 0x1p-24) * magnitude;
  const uint32_t bias = magnitude >= kInfinity ? 2 * kBiasStep : kBiasStep;
  return std::bit_cast<float>(sign | ((magnitude << 13) + bias));
}

double load_element(core::DType dtype, std::span<const std::byte> bytes, size_t index) {
  switch (dtype) {
    case core::DType::f16:
      return from_f16(load<uint16_t>(bytes, index));
    case core::DType::bf16:
      return from_bf16(load<uint16_t>(bytes, index));
    case core::DType::f8e4m3:
      return from_f8e4m3(load<uint8_t>(bytes, index));
    case core::DType::f8e5m2:
      return from_f8e5m2(load<uint8_t>(bytes, index));
    case core::DType::f32:
      return load<float>(bytes, index);
    case core::DType::f64:
      return load<double>(bytes, index);
    case core::DType::i8:
      return load<int8_t>(bytes, index);
    case core::DType::u8:
    case core::DType::boolean:
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

std::vector<double> load_elements(core::DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> values;
  load_elements(dtype, bytes, values);
  return values;
}

void load_elements(core::DType dtype, std::span<const std::byte> bytes, std::vector<double>& values) {
  values.resize(bytes.size() / core::size_bytes(dtype));
  const auto plain = [](auto value) { return value; };
  switch (dtype) {
    case core::DType::f16:
      load_all<uint16_t>(bytes, values, from_f16);
      break;
    case core::DType::bf16:
      load_all<uint16_t>(bytes, values, from_bf16);
      break;
    case core::DType::f8e4m3:
      load_all<uint8_t>(bytes, values, from_f8e4m3);
      break;
    case core::DType::f8e5m2:
      load_all<uint8_t>(bytes, values, from_f8e5m2);
      break;
    case core::DType::f32:
      load_all<float>(bytes, values, plain);
      break;
    case core::DType::f64:
      load_all<double>(bytes, values, plain);
      break;
    case core::DType::i8:
      load_all<int8_t>(bytes, values, plain);
      break;
    case core::DType::u8:
    case core::DType::boolean:
      load_all<uint8_t>(bytes, values, plain);
      break;
    case core::DType::i32:
      load_all<int32_t>(bytes, values, plain);
      break;
    case core::DType::u32:
      load_all<uint32_t>(bytes, values, plain);
      break;
    case core::DType::i64:
      load_all<int64_t>(bytes, values, plain);
      break;
  }
}

void store_element(core::DType dtype, std::span<std::byte> bytes, size_t index, double value) {
  switch (dtype) {
    case core::DType::f16:
      return store(bytes, index, to_f16(value));
    case core::DType::bf16:
      return store(bytes, index, to_bf16(value));
    case core::DType::f8e4m3:
      return store(bytes, index, to_f8e4m3(value));
    case core::DType::f8e5m2:
      return store(bytes, index, to_f8e5m2(value));
    case core::DType::f32:
      return store(bytes, index, static_cast<float>(value));
    case core::DType::f64:
      return store(bytes, index, value);
    case core::DType::i8:
      return store(bytes, index, static_cast<int8_t>(value));
    case core::DType::u8:
    case core::DType::boolean:
      return store(bytes, index, static_cast<uint8_t>(value));
    case core::DType::i32:
      return store(bytes, index, static_cast<int32_t>(value));
    case core::DType::u32:
      return store(bytes, index, static_cast<uint32_t>(value));
    case core::DType::i64:
      return store(bytes, index, static_cast<int64_t>(value));
  }
}

double rounded_to(core::DType dtype, double value) {
  std::array<std::byte, sizeof value> bytes;
  store_element(dtype, bytes, 0, value);
  return load_element(dtype, bytes, 0);
}

double ulp_at(core::DType dtype, double value) {
  if (!core::is_floating(dtype)) return 0;
  const Format format = format_of(dtype);
  const int exponent =
      value == 0 || !std::isfinite(value) ? format.least_exponent : std::max(std::ilogb(value), format.least_exponent);
  return std::ldexp(1.0, exponent - format.significand + 1);
}

double least_normal(core::DType dtype) { return std::ldexp(1.0, format_of(dtype).least_exponent); }
int significand_bits(core::DType dtype) { return format_of(dtype).significand; }

double largest_of(core::DType dtype) { return format_of(dtype).largest; }

double overflow_of(core::DType dtype) {
  return core::is_f8(dtype) ? largest_of(dtype) + ulp_at(dtype, largest_of(dtype)) / 2 : largest_of(dtype);
}

}  // namespace verifier::draws
