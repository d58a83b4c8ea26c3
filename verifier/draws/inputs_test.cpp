#include "verifier/draws/inputs.h"

#include <cmath>
#include <map>
#include <set>

#include "core/paths.h"
#include "verifier/draws/inputs_fixture.h"
#include "verifier/statistics/random.h"

namespace verifier::draws {
namespace {
// The known answers of the authors' own test (kat_vectors of Random123).
TEST(Philox, KnownAnswers) {
  const auto expect = [](const formulas::Quad& got, const std::array<uint32_t, 4>& expected) {
    EXPECT_EQ((std::array{got.x, got.y, got.z, got.w}), expected);
  };
  expect(formulas::philox({0, 0, 0, 0}, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t kOnes = 0xffffffff;
  expect(formulas::philox({kOnes, kOnes, kOnes, kOnes}, ~uint64_t{0}),
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect(formulas::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Inputs, NormalHasTheMomentsAndTailsOfN01) {
  statistics::Stream stream(42);
  constexpr int kCount = 400000;
  double sum = 0, squares = 0, fourths = 0;
  int beyond_two = 0;
  for (int i = 0; i < kCount; ++i) {
    const double v = stream.normal();
    sum += v;
    squares += v * v;
    fourths += v * v * v * v;
    beyond_two += std::fabs(v) > 2;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.008);
  EXPECT_NEAR(squares / kCount, 1, 0.012);
  EXPECT_NEAR(fourths / kCount, 3, 0.08);
  EXPECT_NEAR(static_cast<double>(beyond_two) / kCount, 0.0455, 0.0016);
}

TEST(Inputs, AKeyFixesTheContentAndAnotherChangesIt) {
  for (const Distribution distribution : {Distribution::ordinary, Distribution::row_scales, Distribution::one_hot}) {
    EXPECT_EQ(drawn(tensor(DType::f32), distribution, 7), drawn(tensor(DType::f32), distribution, 7));
    EXPECT_NE(drawn(tensor(DType::f32), distribution, 7), drawn(tensor(DType::f32), distribution, 8));
  }
}

TEST(Inputs, OnlyNonFiniteDrawsAreNotFinite) {
  for (const DType dtype : kFloats) {
    for (const Init kind : {Init::normal, Init::uniform}) {
      for (const Distribution distribution : all_distributions()) {
        const std::vector<double> values = drawn(tensor(dtype, kind), distribution);
        const auto finite = std::count_if(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
        if (distribution == Distribution::non_finite) {
          EXPECT_NEAR(static_cast<double>(finite), 64000 * 63.0 / 64, 150);
        } else {
          EXPECT_EQ(finite, 64000 - (distribution == Distribution::stray))
              << core::name_of(dtype) << " " << name_of(distribution);
        }
      }
    }
  }
}

TEST(Inputs, UniformKeepsItsBoundsInEveryDistribution) {
  Tensor x = tensor(DType::f32, Init::uniform);
  for (const auto& [low, high] : {std::pair(0.0, 1.0), std::pair(0.5, 3.0), std::pair(-2.0, -1.0)}) {
    x.init.low = low;
    x.init.high = high;
    for (const Distribution distribution : all_distributions()) {
      for (const double v : drawn(x, distribution)) {
        if (!std::isfinite(v)) continue;
        ASSERT_GE(v, low) << name_of(distribution);
        ASSERT_LE(v, high) << name_of(distribution);
      }
    }
  }
}

TEST(Inputs, IntegersKeepTheirBoundsInEveryDistributionAndDtype) {
  for (const DType dtype : {DType::i8, DType::i32, DType::i64, DType::f16, DType::f32}) {
    for (const Distribution distribution : all_distributions()) {
      const std::vector<double> values = drawn(integers(dtype, -3, 100), distribution);
      for (const double v : values) {
        ASSERT_EQ(v, std::round(v));
        ASSERT_TRUE(v >= -3 && v <= 100) << v;
      }
      const std::set<double> distinct(values.begin(), values.end());
      if (distribution == Distribution::ordinary) {
        EXPECT_EQ(distinct.size(), 104u);
      }
      if (distribution == Distribution::one_value) {
        EXPECT_LE(distinct.size(), 4u);  // both ends of the range, and rarely what is beside them
      }
      if (distribution == Distribution::ties) {
        EXPECT_LE(distinct.size(), 3u);
      }
    }
  }
}

// Integers of an input that are all one value are often an end of the range, or both ends by halves.
TEST(Inputs, OneValueIsOftenAnEndOfTheRange) {
  int least = 0, most = 0, by_columns = 0, by_rows = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    const std::vector<double> values = drawn(integers(DType::i8, -128, 127), Distribution::one_value, key);
    const auto all = [&](const auto& is) {
      for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] != is(i)) return false;
      }
      return true;
    };
    least += all([](size_t) { return -128; });
    most += all([](size_t) { return 127; });
    by_columns += all([](size_t i) { return i % 1000 < 500 ? 127 : -127; });
    by_rows += all([&](size_t i) { return i < values.size() / 2 ? 127 : -127; });
  }
  for (const int count : {least, most, by_columns, by_rows}) EXPECT_NEAR(count, 25, 18);
}

TEST(Inputs, BoolsAreBytesOf0And1InEveryDistribution) {
  for (const Distribution distribution : all_distributions()) {
    for (const double v : drawn(integers(DType::boolean, 0, 1), distribution)) {
      ASSERT_TRUE(v == 0 || v == 1) << name_of(distribution) << " " << v;
    }
  }
  const std::vector<double> ordinary = drawn(integers(DType::boolean, 0, 1), Distribution::ordinary);
  EXPECT_EQ(std::set<double>(ordinary.begin(), ordinary.end()).size(), 2u);
}

TEST(Inputs, TheWholeRangeOfWideIntegersIsDrawn) {
  const std::vector<double> wide = drawn(integers(DType::i64, INT64_MIN, INT64_MAX), Distribution::ordinary);
  EXPECT_GT(*std::max_element(wide.begin(), wide.end()), 9e18);
  EXPECT_LT(*std::min_element(wide.begin(), wide.end()), -9e18);
  const std::vector<double> u32 = drawn(integers(DType::u32, 0, UINT32_MAX), Distribution::ordinary);
  EXPECT_GT(*std::max_element(u32.begin(), u32.end()), 4.2e9);
}

TEST(Inputs, DistributionsAreWhatTheySay) {
  const Tensor x = tensor(DType::f32);
  const std::vector<double> scaled = drawn(x, Distribution::row_scales), hot = drawn(x, Distribution::one_hot);
  double least = INFINITY, most = 0;
  for (size_t row = 0; row < 64; ++row) {
    const double size = rms(scaled, row * 1000, (row + 1) * 1000);
    least = std::min(least, size);
    most = std::max(most, size);
    EXPECT_DOUBLE_EQ(rms(hot, row * 1000, (row + 1) * 1000), std::sqrt(1e-3));
  }
  EXPECT_GT(most / least, 1e3);
  EXPECT_LT(most / least, 2e6);
  std::set<bool> beyond_3000;
  for (uint64_t key = 1; key < 20; ++key) {
    const std::vector<double> offset = drawn(x, Distribution::offset, key << 28);
    const double size = rms(offset, 0, 64000);
    beyond_3000.insert(size > 3000);
    EXPECT_GT(size, 99);
    EXPECT_LT(size, 1.01e5);
    EXPECT_NEAR(std::fabs(offset[0]), size, 5);
  }
  EXPECT_EQ(beyond_3000.size(), 2u);
  EXPECT_NEAR(rms(drawn(tensor(DType::f16), Distribution::offset), 0, 64000), 8.06, 0.1);
  for (uint64_t key = 0; key < 20; ++key) {
    const double size = rms(drawn(tensor(DType::f16), Distribution::offset, with_kind(key << 18, 1)), 0, 64000);
    EXPECT_GT(size, 63);
    EXPECT_LT(size, 1100);
  }
  EXPECT_NEAR(rms(drawn(x, Distribution::spikes), 0, 64000), 125, 15);
  const std::vector<double> tiny = drawn(x, Distribution::denormals);
  EXPECT_GT(std::count_if(tiny.begin(), tiny.end(), [](double v) { return v != 0 && std::fabs(v) < 0x1p-126; }), 20000);
  const std::vector<double> exact = drawn(x, Distribution::exact);
  EXPECT_NEAR(rms(exact, 0, 64000), 1, 0.02);  // like an ordinary draw, in steps of 1/32
  EXPECT_TRUE(std::all_of(exact.begin(), exact.end(), [](double v) { return v * 32 == std::round(v * 32); }));
  const Tensor long_row{"x", DType::f32, {Expr::constant((1 << 22) + 5)}, {}};  // whose products add up beyond 2^13
  const std::vector<double> coarse = drawn(long_row, Distribution::exact);
  EXPECT_TRUE(std::all_of(coarse.begin(), coarse.end(), [](double v) { return v * 8 == std::round(v * 8); }));
  const std::vector<double> odd = drawn(x, Distribution::exact_products);
  for (size_t row = 0; row < 64; ++row) {
    const auto begin = odd.begin() + static_cast<std::ptrdiff_t>(row * 1000);
    EXPECT_EQ(std::count(begin, begin + 1000, 0.0), 999);
    const double size = std::fabs(rms(odd, row * 1000, (row + 1) * 1000) * std::sqrt(1000));
    EXPECT_EQ(std::fmod(std::round(size), 2), 1);
    EXPECT_LT(size, 4096);
  }
}

TEST(Inputs, OneScaleIsLargeOrSmallForAllInputs) {
  const auto size = [](DType dtype, uint64_t key) {
    return rms(drawn(tensor(dtype), Distribution::one_scale, key), 0, 64000);
  };
  statistics::Keys keys(3);
  std::set<int> exponents, of_narrow;
  for (int i = 0; i < 200; ++i) {
    const uint64_t key = keys.next();
    const double f32 = size(DType::f32, with_kind(key, 1)), f16 = size(DType::f16, with_kind(key, 1));
    exponents.insert(std::ilogb(f32 * 1.4));
    of_narrow.insert(std::ilogb(f16 * 1.4));
    if (i >= 3) continue;
    EXPECT_NEAR(size(DType::f32, with_kind(key, 0)), 1e15, 1e13);
    EXPECT_NEAR(size(DType::f16, with_kind(key, 0)), f16, f16 / 50);
  }
  EXPECT_THAT(exponents, testing::ElementsAreArray({-20, -19, -18, -17, -16, -15, -14, -13, -12, -11, -10, -9, -8}));
  EXPECT_THAT(of_narrow, testing::ElementsAre(-4, -3, -2, -1));
  Tensor bounded = tensor(DType::f32, Init::uniform);
  const std::vector<double> low = drawn(bounded, Distribution::one_scale, with_kind(keys.next(), 1));
  EXPECT_GE(*std::min_element(low.begin(), low.end()), bounded.init.low);
  EXPECT_LT(*std::max_element(low.begin(), low.end()), bounded.init.low + (bounded.init.high - bounded.init.low) / 128);
}

TEST(Inputs, ModerateOnesAreOrdinaryOrFlat) {
  statistics::Keys keys(3);
  for (int i = 0; i < 20; ++i) {
    const uint64_t key = keys.next();
    const double size = rms(drawn(tensor(DType::f32), Distribution::moderate, with_kind(key, 2)), 0, 64000);
    EXPECT_GT(size, 0.022 * 0.99);
    EXPECT_LT(size, 0.7072 * 1.01);
    const std::vector<double> flat = drawn(tensor(DType::f32), Distribution::moderate, with_kind(key, 3));
    const double most = std::ranges::max(flat);
    EXPECT_GT(most, std::exp2(-2.25) * 0.99) << "of 64000";
    EXPECT_LT(most, std::exp2(0.25));
    EXPECT_NEAR(rms(flat, 0, 64000), most / std::sqrt(3), most / 50);
  }
}

TEST(Inputs, TinyOnesAreNormalNumbersWhoseProductsAreToo) {
  statistics::Keys keys(3);
  for (int i = 0; i < 60; ++i) {
    const uint64_t key = keys.next();
    const double all = rms(drawn(tensor(DType::f32), Distribution::tiny, with_kind(key, 0)), 0, 64000);
    const double one = rms(drawn(tensor(DType::f32), Distribution::tiny, with_kind(key, 1)), 0, 64000);
    EXPECT_GT(all, 0x1p-56);
    EXPECT_GT(one, 0x1p-111);
    EXPECT_LT(one, 0x1.2p-20);
    EXPECT_GT(rms(drawn(tensor(DType::f16), Distribution::tiny, key), 0, 64000), 0x1p-13);
  }
}

TEST(Inputs, SmallOnesOfBothSignsLieAboutZero) {
  Tensor weights = tensor(DType::f32, Init::uniform);
  weights.init.low = -0.125;
  weights.init.high = 0.125;
  const std::vector<double> small = drawn(weights, Distribution::one_scale, with_kind(9, 1));
  const std::vector<double> tiny = drawn(weights, Distribution::tiny, with_kind(9, 1));
  const auto has = [](const std::vector<double>& values, double low, double high) {
    const auto [least, most] = std::ranges::minmax(values);
    return least >= low && most < high && least < 0 && most > 0;
  };
  EXPECT_TRUE(has(small, -0x1p-11, 0x1p-11));
  EXPECT_TRUE(has(tiny, -0x1p-23, 0x1p-23));
}

TEST(Inputs, ANeighbourIsCloseAndKeepsWhatIsExact) {
  for (const DType dtype : kFloats) {
    for (const Distribution distribution : {Distribution::ordinary, Distribution::one_hot, Distribution::non_finite}) {
      const Tensor x = tensor(dtype);
      std::vector<std::byte> bytes(static_cast<size_t>(x.bytes(kAxes)));
      fill_input(bytes, x, kAxes, distribution, 1);
      const std::vector<double> before = load_elements(dtype, bytes);
      const bool twice = distribution == Distribution::ordinary;
      jitter_input(bytes, x, twice ? 1 : 2, 2);
      const std::vector<double> after = load_elements(dtype, bytes);
      int moved = 0;
      for (size_t i = 0; i < before.size(); ++i) {
        if (before[i] == 0 || !std::isfinite(before[i])) {
          ASSERT_TRUE(after[i] == before[i] || (std::isnan(after[i]) && std::isnan(before[i])));
          continue;
        }
        const int quarter = core::size_bytes(dtype) == 2 ? 2 : dtype == DType::f32 ? 7 : 14;
        const int bits = core::is_f8(dtype) ? 1 : quarter * (twice ? 2 : 1);
        const double steps = std::exp2(bits) - 1;
        ASSERT_LE(std::fabs(after[i] - before[i]), steps * ulp_at(dtype, before[i]));
        moved += after[i] != before[i];
      }
      const int most = distribution == Distribution::one_hot ? 64 : 62000;  // of 8 bits, half of them move
      EXPECT_GT(moved, core::is_f8(dtype) ? most * 3 / 10 : most / 2) << core::name_of(dtype);
    }
  }
  const Tensor whole = integers(DType::f32, 0, 100);
  std::vector<std::byte> bytes(static_cast<size_t>(whole.bytes(kAxes)));
  fill_input(bytes, whole, kAxes, Distribution::ordinary, 1);
  const std::vector<std::byte> before = bytes;
  jitter_input(bytes, whole, 1, 2);
  EXPECT_EQ(bytes, before);
}

}  // namespace
}  // namespace verifier::draws
