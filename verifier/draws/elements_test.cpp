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

struct Format {
  DType dtype;
  uint32_t end;  // the code after the largest number's
  double next;   // the number that would follow the largest
};
constexpr Format kFormats[] = {{DType::f16, 0x7C00, 65536},
                               {DType::bf16, 0x7F80, 0x1p128},
                               {DType::f8e4m3, 0x7F, 480},
                               {DType::f8e5m2, 0x7C, 65536}};

// Rounding by the book: the nearer of the two neighbours, of two equally near ones the even one.
uint32_t nearest_by_search(const Format& format, double value) {
  const auto at = [&](uint32_t bits) {
    return bits < format.end ? loaded(format.dtype, static_cast<uint16_t>(bits)) : format.next;
  };
  uint32_t low = 0, high = format.end;
  while (high - low > 1) (at((low + high) / 2) <= std::fabs(value) ? low : high) = (low + high) / 2;
  const double down = std::fabs(value) - at(low), up = at(high) - std::fabs(value);
  const uint32_t bits = down < up || (down == up && low % 2 == 0) ? low : high;
  return bits | (std::signbit(value) ? 1u << (8 * core::size_bytes(format.dtype) - 1) : 0u);
}

class Narrow : public testing::TestWithParam<Format> {
 protected:
  const Format& format = GetParam();
  const DType dtype = format.dtype;
};

TEST_P(Narrow, EveryPatternSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 1u << (8 * core::size_bytes(dtype)); ++bits) {
    const double value = loaded(dtype, static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(loaded(dtype, stored(dtype, value))));
    } else {
      ASSERT_EQ(stored(dtype, value), bits) << value;
    }
  }
}

TEST_P(Narrow, RoundsOnceToNearestEven) {
  std::mt19937_64 chance(7);
  for (int i = 0; i < 20000; ++i) {
    const auto low = static_cast<uint32_t>(chance() % (format.end - 1));
    const double a = loaded(dtype, static_cast<uint16_t>(low));
    const double b = loaded(dtype, static_cast<uint16_t>(low + 1));
    const double middle = (a + b) / 2;
    const double step = std::ldexp(middle, -50);  // twice-rounded conversions lose this
    for (const double value : {middle, middle + step, middle - step, a + (b - a) * 0.3, -middle}) {
      ASSERT_EQ(stored(dtype, value), nearest_by_search(format, value)) << value;
    }
  }
}

// The largest number of f8e4m3 is even and infinity is missing; the others end in an odd one.
TEST_P(Narrow, OverflowsToInfinityOrNan) {
  const double largest = largest_of(dtype), ulp = ulp_at(dtype, largest);
  EXPECT_EQ(loaded(dtype, stored(dtype, largest + ulp * 0.49)), largest);
  for (const double beyond : {largest + ulp * 0.51, 1e300, static_cast<double>(INFINITY)}) {
    const double above = loaded(dtype, stored(dtype, beyond)), below = loaded(dtype, stored(dtype, -beyond));
    if (dtype == DType::f8e4m3) {
      EXPECT_TRUE(std::isnan(above) && std::isnan(below)) << beyond;
    } else {
      EXPECT_EQ(above, INFINITY) << beyond;
      EXPECT_EQ(below, -INFINITY) << beyond;
    }
  }
  const double middle = loaded(dtype, stored(dtype, largest + ulp * 0.5));
  EXPECT_EQ(middle, dtype == DType::f8e4m3 ? largest : INFINITY);
  if (core::is_f8(dtype)) {
    EXPECT_EQ(overflow_of(dtype), largest + ulp * 0.5);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Narrow, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::string(core::name_of(format.param.dtype)); });

TEST(Elements, FormatsOf8BitsEndWhereTheirStandardSays) {
  EXPECT_EQ(largest_of(DType::f8e4m3), 448);
  EXPECT_EQ(largest_of(DType::f8e5m2), 57344);
  EXPECT_EQ(loaded(DType::f8e4m3, 0x01), 0x1p-9);
  EXPECT_EQ(loaded(DType::f8e5m2, 0x01), 0x1p-16);
  EXPECT_EQ(loaded(DType::f8e4m3, 0x08), least_normal(DType::f8e4m3));
  EXPECT_EQ(loaded(DType::f8e5m2, 0x04), least_normal(DType::f8e5m2));
  EXPECT_EQ(loaded(DType::f8e4m3, 0x7E), 448);
  EXPECT_EQ(loaded(DType::f8e5m2, 0x7C), INFINITY);
  for (const uint16_t bits : {0x7F, 0xFF}) EXPECT_TRUE(std::isnan(loaded(DType::f8e4m3, bits)));
}

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
  for (const auto& [dtype, name] : core::enum_rows(DType{})) {
    std::vector<std::byte> bytes(64 * core::size_bytes(dtype));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(chance());
    const std::vector<double> all = load_elements(dtype, bytes);
    ASSERT_EQ(all.size(), 64u);
    for (size_t i = 0; i < all.size(); ++i) {
      const double one = load_element(dtype, bytes, i);
      EXPECT_EQ(std::bit_cast<uint64_t>(all[i]), std::bit_cast<uint64_t>(one)) << name << " " << i;
    }
  }
}

}  // namespace
}  // namespace verifier::draws
