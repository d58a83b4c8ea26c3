// For tests of comparisons: values as they are stored, and what is said of them.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "verifier/comparison/compare.h"
#include "verifier/draws/elements.h"
#include "verifier/statistics/random.h"

namespace verifier::comparison::test {

using core::DType;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline Floats normal(size_t count, uint64_t key, float scale = 1) {
  statistics::Stream stream(key);
  Floats values(count);
  for (float& value : values) value = scale * stream.normal();
  return values;
}

template <typename Values>
std::vector<std::byte> stored(DType dtype, const Values& values) {
  std::vector<std::byte> bytes(values.size() * core::size_bytes(dtype));
  for (size_t i = 0; i < values.size(); ++i) draws::store_element(dtype, bytes, i, static_cast<double>(values[i]));
  return bytes;
}

struct ComparisonCase {
  DType dtype = DType::f32;
  size_t columns = 1;
  Reduction reduction;
  bool exact = false;
  bool may_overflow = false;
  bool of_library = false;
};

// nullopt: accepted.
template <typename Output, typename Naive>
std::optional<verdicts::Verdict> judged(const ComparisonCase& c, const Output& y, const Doubles& r, const Naive& b) {
  const auto output = stored(c.dtype, y), naive = stored(c.dtype, b);
  const auto reference = stored(core::is_floating(c.dtype) ? DType::f64 : c.dtype, r);
  const auto result = compare({c.dtype,
                               DType::f32,
                               c.columns,
                               c.reduction,
                               c.exact,
                               output,
                               {reference, naive},
                               {},
                               {},
                               c.may_overflow,
                               c.of_library},
                              "y", {"w", "", "", ""});
  if (const auto* verdict = std::get_if<verdicts::Verdict>(&result)) return *verdict;
  EXPECT_LE(std::get<Match>(result).ratio, 1);
  return std::nullopt;
}
inline std::string name_of(const std::optional<verdicts::Verdict>& verdict) {
  return verdict ? name_of(*verdict) : "accepted";
}

inline float tf32(float value) { return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000u) & ~0x1FFFu); }
inline float plain(float value) { return value; }

}  // namespace verifier::comparison::test
