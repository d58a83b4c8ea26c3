#include "verifier/draws/elements.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace verifier::draws {
namespace {
using core::DType;

uint16_t stored(DType dtype, double value) {
  std::array<std::byte, 2> bytes{};
  store_element(dtype, bytes, 0, value);
  uint16_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}
double loaded(DType dtype, uint16_t bits) {
  std::array<std::byte, 2> bytes{};
  std::memcpy(bytes.data(), &bits, sizeof bits);
  return load_element(dtype, bytes, 0);
}

// Rounding by the book: the nearer of the two neighbours, of two equally near ones the even one.
uint16_t nearest_by_search(DType dtype, double value) {
  const uint16_t infinity = dtype == DType::f16 ? 0x7C00 : 0x7F80;
  const auto at = [&](uint32_t bits) {
    if (bits < infinity) return loaded(dtype, static_cast<uint16_t>(bits));
    return dtype == DType::f16 ? 65536.0 : 0x1p128;  // where the next number would be
  };
  uint32_t low = 0, high = infinity;
  while (high - low > 1) (at((low + high) / 2) <= std::fabs(value) ? low : high) = (low + high) / 2;
  const double down = std::fabs(value) - at(low), up = at(high) - std::fabs(value);
  const uint32_t bits = down < up || (down == up && low % 2 == 0) ? low : high;
  return static_cast<uint16_t>(bits | (std::signbit(value) ? 0x8000u : 0u));
}

class Narrow : public testing::TestWithParam<DType> {};

TEST_P(Narrow, EveryPatternSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const double value = loaded(GetParam(), static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(loaded(GetParam(), stored(GetParam(), value))));
    } else {
      ASSERT_EQ(stored(GetParam(), value), bits) << value;
    }
  }
}

TEST_P(Narrow, RoundsOnceToNearestEven) {
  std::mt19937_64 chance(7);
  const uint32_t finite = GetParam() == DType::f16 ? 0x7C00 : 0x7F80;
  for (int i = 0; i < 20000; ++i) {
    const auto low = static_cast<uint32_t>(chance() % (finite - 1));
    const double a = loaded(GetParam(), static_cast<uint16_t>(low));
    const double b = loaded(GetParam(), static_cast<uint16_t>(low + 1));
    const double middle = (a + b) / 2;
    const double step = std::ldexp(middle, -50);  // twice-rounded conversions lose this
    for (const double value : {middle, middle + step, middle - step, a + (b - a) * 0.3, -middle}) {
      ASSERT_EQ(stored(GetParam(), value), nearest_by_search(GetParam(), value)) << value;
    }
  }
}

TEST_P(Narrow, OverflowsToInfinity) {
  const double largest = largest_of(GetParam()), ulp = ulp_at(GetParam(), largest);
  EXPECT_EQ(loaded(GetParam(), stored(GetParam(), largest + ulp * 0.49)), largest);
  EXPECT_EQ(loaded(GetParam(), stored(GetParam(), largest + ulp * 0.5)), INFINITY);
  EXPECT_EQ(loaded(GetParam(), stored(GetParam(), -1e300)), -INFINITY);
}

INSTANTIATE_TEST_SUITE_P(Formats, Narrow, testing::Values(DType::f16, DType::bf16),
                         [](const auto& format) { return std::string(core::name_of(format.param)); });

TEST(Elements, UlpIsTheDistanceToTheNextNumber) {
  for (const double value : {1.0, 1.5, 65504.0, 0x1p-14, 0x1p-20, 3e-8}) {
    const uint16_t bits = stored(DType::f16, value);
    if (bits == 0x7BFF) continue;
    EXPECT_EQ(ulp_at(DType::f16, value),
              loaded(DType::f16, static_cast<uint16_t>(bits + 1)) - loaded(DType::f16, bits));
  }
  for (const float value : {1.0f, 3.7f, 1e-42f, 1e30f}) {
    EXPECT_EQ(ulp_at(DType::f32, value), static_cast<double>(std::nextafterf(value, INFINITY)) - value);
  }
  EXPECT_EQ(ulp_at(DType::f32, 0), 0x1p-149);
  EXPECT_EQ(ulp_at(DType::i32, 5), 0);
}

TEST(Elements, AllAtOnceAsOneByOne) {
  std::mt19937 chance(3);
  for (const DType dtype :
       {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8, DType::u8, DType::i32, DType::u32, DType::i64}) {
    std::vector<std::byte> bytes(64 * core::size_bytes(dtype));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(chance());
    const std::vector<double> all = load_elements(dtype, bytes);
    ASSERT_EQ(all.size(), 64u);
    for (size_t i = 0; i < all.size(); ++i) {
      const double one = load_element(dtype, bytes, i);
      EXPECT_EQ(std::bit_cast<uint64_t>(all[i]), std::bit_cast<uint64_t>(one)) << core::name_of(dtype) << " " << i;
    }
  }
}

}  // namespace
}  // namespace verifier::draws
