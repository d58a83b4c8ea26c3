#include "verifier/draws/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/paths.h"
#include "verifier/draws/elements.h"
#include "verifier/statistics/random.h"

namespace verifier::draws {
namespace {
using benchsuite::Init;
using benchsuite::Tensor;
using core::DType;
using core::Expr;
using testing::Contains;
using testing::Not;

const core::Bindings kAxes{{"M", 64}, {"N", 1000}};
constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64};

Tensor tensor(DType dtype, Init kind = Init::normal) {
  Tensor made{"x", dtype, {Expr::parse("M"), Expr::parse("N")}, {}};
  made.init.kind = kind;
  return made;
}
Tensor one_row() { return {"x", DType::f32, {Expr::parse("M * N")}, {}}; }
Tensor integers(DType dtype, int64_t least, int64_t most) {
  Tensor made = tensor(dtype, Init::integers);
  made.init.least = Expr::constant(least);
  made.init.most = Expr::constant(most);
  return made;
}

std::vector<double> drawn(const Tensor& tensor, Distribution distribution, uint64_t key = 1) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes(kAxes)));
  fill_input(bytes, tensor, kAxes, distribution, key);
  return load_elements(tensor.dtype, bytes);
}

double rms(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i] * values[i];
  return std::sqrt(sum / static_cast<double>(end - begin));
}

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

TEST(Inputs, OnlySomeDistributionsAskForASecondNumber) {
  constexpr formulas::Row kRow{3, 0.5, 2, false, 1, 0};
  constexpr uint32_t kNumbers[] = {0, 1, 1 << 25, 1 << 28, ~0u};
  for (const Distribution distribution : all_distributions()) {
    std::set<std::tuple<bool, uint64_t, int64_t, double>> made;
    size_t asked = 0;
    for (const bool between_bounds : {false, true}) {
      const auto element = between_bounds ? formulas::bounded : formulas::unbounded;
      for (const uint64_t key : {uint64_t{1}, uint64_t{1} << 62, uint64_t{3} << 62}) {
        const formulas::FillArgs args = fill_args(tensor(DType::f32), kAxes, distribution, key);
        for (const int64_t column : {kRow.hot, kRow.hot + 1}) {
          ++asked;
          for (const uint32_t second : kNumbers) {
            const double value = element(args, kRow, column, {0.5, 0.25, 1u << 30, second});
            made.emplace(between_bounds, key, column, std::isnan(value) ? -1e300 : value);
          }
        }
      }
    }
    EXPECT_EQ(made.size() > asked, formulas::asks_second(distribution)) << name_of(distribution);
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

TEST(Inputs, WholeNumbersOfSomeRowsLieInAWindow) {
  Tensor indices = tensor(DType::i32, Init::integers);
  const auto has_a_narrow_row = [&](uint64_t key) {
    const std::vector<double> values = drawn(indices, Distribution::patchwork, key);
    const auto columns = static_cast<size_t>(indices.shape.back().eval(kAxes));
    for (size_t row = 0; row + columns <= values.size(); row += columns) {
      const auto [least, most] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(row),
                                                     values.begin() + static_cast<std::ptrdiff_t>(row + columns));
      if (*most - *least < 1 << 15) return true;
    }
    return false;
  };
  int narrow = 0;
  for (uint64_t key = 0; key < 20; ++key) narrow += has_a_narrow_row(key);
  EXPECT_GT(narrow, 5);
}

TEST(DrawKeys, OneScaleIsLargeAndSmallInTurn) {
  statistics::Keys keys(5);
  DrawKeys draws(keys);
  const uint64_t first = draws.next(Distribution::one_scale) >> 62, second = draws.next(Distribution::one_scale) >> 62;
  EXPECT_NE(first % 2, second % 2);
}

TEST(Inputs, DrawsOfOneRowGoThroughEachKindOfNonFinite) {
  using Seen = std::array<bool, 3>;  // NaN, infinity, -infinity
  const std::set<Seen> pure{{true, false, false}, {false, true, false}, {false, false, true}};
  std::set<Seen> mixed;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    statistics::Keys keys(seed);
    DrawKeys draws(keys);
    std::set<Seen> seen;
    for (unsigned i = 0; i < kKinds; ++i) {
      draws.next(Distribution::spikes);  // which do not count
      const uint64_t draw_key = draws.next(Distribution::non_finite);
      statistics::Keys of_tensors(draw_key);
      const auto values =
          drawn(one_row(), Distribution::non_finite, tensor_key(of_tensors, draw_key, Distribution::non_finite, 0, 1));
      seen.insert({std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }),
                   std::count(values.begin(), values.end(), INFINITY) > 0,
                   std::count(values.begin(), values.end(), -INFINITY) > 0});
    }
    EXPECT_EQ(seen.size(), size_t{kKinds});
    for (const Seen& one : pure) EXPECT_EQ(seen.erase(one), 1u);
    mixed.merge(seen);
  }
  EXPECT_EQ(mixed, (std::set<Seen>{{true, true, true}, {false, true, true}}));
}

TEST(Inputs, ShortInputsAreDrawnOncePerKind) {
  const benchsuite::Problem gelu = benchsuite::load_problem(core::installed_paths().problems() / "gelu_f32");
  EXPECT_EQ(draws_for(gelu, {{"N", 1000}}, Distribution::non_finite), 4);
  EXPECT_EQ(draws_for(gelu, {{"N", 1000}}, Distribution::spikes), 1);
  const benchsuite::Problem softmax = benchsuite::load_problem(core::installed_paths().problems() / "softmax_f32");
  EXPECT_EQ(draws_for(softmax, {{"M", 3}, {"N", 1000}}, Distribution::non_finite), 4);
  EXPECT_EQ(draws_for(softmax, {{"M", 4}, {"N", 1000}}, Distribution::non_finite), 1);
}

TEST(Inputs, RegularIntegersHaveAnException) {
  const benchsuite::Problem problem =
      benchsuite::load_problem(core::installed_paths().problems() / "cross_entropy_f32");
  const auto targets = std::ranges::find(problem.inputs, "targets", &benchsuite::Tensor::name);
  ASSERT_NE(targets, problem.inputs.end());
  const core::Bindings axes{{"M", 16}, {"N", 1 << 20}};
  for (uint64_t key = 1; key < 20; ++key) {
    std::vector<std::byte> bytes(static_cast<size_t>(targets->bytes(axes)));
    fill_input(bytes, *targets, axes, Distribution::regular, key);
    std::map<double, int> counts;
    for (size_t i = 0; i < 16; ++i) ++counts[load_element(targets->dtype, bytes, i)];
    ASSERT_GE(counts.size(), 2u);
    ASSERT_LE(counts.size(), 4u);
    const auto rarest = std::ranges::min_element(counts, {}, [](const auto& counted) { return counted.second; });
    EXPECT_LE(rarest->second, 2);
  }
}

// However many inputs and test shapes a problem has, up to the most draws that a shape gets.
TEST(Inputs, EachInputIsRegularInEachWay) {
  for (const char* name : {"row_sum_f32", "gemm_f32", "layernorm_f32"}) {
    const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / name);
    statistics::Keys keys(7);
    DrawKeys draws(keys);
    std::set<std::pair<size_t, uint64_t>> seen;
    for (const benchsuite::Workload& workload : problem.workloads) {
      if (workload.role != benchsuite::Role::test) continue;
      for (int i = draws_for(problem, workload.axes, Distribution::regular); i > 0; --i) {
        const uint64_t key = draws.next(Distribution::regular);
        for (size_t input = 0; input < problem.inputs.size(); ++input) {
          if (distribution_of(problem, workload.axes, Distribution::regular, key, input) == Distribution::regular) {
            seen.insert({input, key >> 62});
          }
        }
      }
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), ways_of_one_input(problem)) << name;
  }
}

// Fewer than a thousand of the elements may tell patchwork from an ordinary draw.
TEST(Inputs, PatchworkLooksOrdinaryFromItsFirstElements) {
  int told = 0, patched = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    const std::vector<double> ordinary = drawn(tensor(DType::f32), Distribution::ordinary, key);
    const std::vector<double> values = drawn(tensor(DType::f32), Distribution::patchwork, key);
    told += !std::equal(ordinary.begin(), ordinary.begin() + 64, values.begin());
    patched += ordinary != values;
  }
  EXPECT_EQ(patched, 200);
  EXPECT_LT(told, 80);  // a quarter has a coarser grain, in timed launches, too
}

TEST(Inputs, PatchesCoverAnEighthOrSo) {
  for (const DType dtype : kFloats) {
    double largest = 0;
    for (uint64_t key = 0; key < 100; ++key) {
      Tensor x = tensor(dtype);
      const formulas::FillArgs args = fill_args(x, kAxes, Distribution::patchwork, key);
      ASSERT_LE(args.patch_count, formulas::kMostPatches);
      int64_t covered = 0;
      for (int64_t p = 0; p < args.patch_count; ++p) covered += args.patches[p].elements();
      EXPECT_LT(covered, 64000 / 3);
      for (const double v : drawn(x, Distribution::patchwork, key)) {
        ASSERT_TRUE(std::isfinite(v));
        largest = std::max(largest, std::fabs(v));
      }
    }
    EXPECT_GT(largest, std::sqrt(largest_of(dtype)));
  }
}

// The product of the lowest bits is there only where both have many bits, and f32 must hold it.
TEST(Inputs, EverySecondExactProductHasTwoHalves) {
  constexpr uint64_t kSecond = uint64_t{1} << 62;
  statistics::Keys keys(5);
  for (size_t input = 0; input < 2; ++input) {
    const uint64_t key = tensor_key(keys, kSecond, Distribution::exact_products, input, 2);
    double largest = 0;
    for (const double v : drawn(tensor(DType::f32), Distribution::exact_products, key)) {
      largest = std::max(largest, std::fabs(v));
      EXPECT_TRUE(v == 0 || std::fmod(std::fabs(v), 2) == 1) << v;
    }
    EXPECT_GT(largest, 1 << 11);
    EXPECT_LT(largest, 1 << 12);
  }
  statistics::Keys of_judgement(6);
  DrawKeys draws(of_judgement);
  const uint64_t first = draws.next(Distribution::exact_products), second = draws.next(Distribution::exact_products);
  EXPECT_EQ((first ^ second) & kSecond, kSecond) << "they take turns";
}

// A dropped bit of either operand shows in a product of theirs, which f32 holds.
TEST(Inputs, ExactProductsHaveAllBitsInOneInputAndOneInTheOther) {
  for (uint64_t draw_key = 1; draw_key < 5; ++draw_key) {
    statistics::Keys keys(draw_key);
    std::set<bool> full;
    for (size_t input = 0; input < 2; ++input) {
      const uint64_t key = tensor_key(keys, draw_key, Distribution::exact_products, input, 2);
      const auto values = drawn(tensor(DType::f32), Distribution::exact_products, key);
      double largest = 0;
      for (const double v : values) largest = std::max(largest, std::fabs(v));
      full.insert(largest > 1 << 20);
      for (const double v : values) {
        if (v == 0) continue;
        int exponent = 0;
        const bool power_of_two = std::fabs(std::frexp(v, &exponent)) == 0.5, odd = std::fmod(std::fabs(v), 2) == 1;
        EXPECT_TRUE(largest > 8 ? odd : power_of_two) << v;
      }
    }
    EXPECT_EQ(full.size(), 2u);
  }
}

TEST(Inputs, OneElementOfEachRowDominates) {
  const std::vector<double> values = drawn(tensor(DType::f32), Distribution::dominant);
  int dominated = 0;
  for (size_t row = 0; row < 64; ++row) dominated += rms(values, row * 1000, (row + 1) * 1000) > 0x1p20;
  EXPECT_GT(dominated, 62);
  EXPECT_GT(values[63999], 0x1p20);   // the end of the last row decides about a maximum
  EXPECT_LT(values[62999], -0x1p20);  // and of the row before it about a minimum
}

TEST(Inputs, RowsOfExtremesAreFarFromZeroOrHaveLargeOutliers) {
  Tensor x = tensor(DType::f32);
  int far = 0, negative = 0, huge = 0, outliers_at_the_end = 0;
  constexpr int kDraws = 16;
  for (uint64_t key = 1; key <= kDraws; ++key) {
    const std::vector<double> values = drawn(x, Distribution::extremes, key);
    huge += std::fabs(values.back()) > 1e30;
    float sum = 0;  // whatever is added in whatever order
    for (const double v : values) sum += static_cast<float>(4 * std::fabs(v));
    ASSERT_TRUE(std::isfinite(sum));
    for (size_t row = 0; row < 64; ++row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 1000);
      const auto [least, most] = std::minmax_element(begin, begin + 1000);
      ASSERT_TRUE(std::isfinite(*least) && std::isfinite(*most));
      far += *most < 0 || *least > 0;
      negative += *most < 0;
      outliers_at_the_end += *least < 0 && *most > 0 && (begin[999] == *most || begin[999] == *least);
    }
  }
  EXPECT_NEAR(far, kDraws * 32, kDraws * 5);
  EXPECT_NEAR(negative, kDraws * 24, kDraws * 5);
  EXPECT_GE(huge, kDraws / 8);
  EXPECT_GT(outliers_at_the_end, kDraws * 8);
  x.init.largest = 1e6;
  for (const double v : drawn(x, Distribution::extremes)) ASSERT_LE(std::fabs(v), 1e6);
  for (const double v : drawn(tensor(DType::f16), Distribution::extremes)) ASSERT_LE(std::fabs(v), 65504);
}

TEST(Inputs, RegularContentHasAFewExceptions) {
  using formulas::Regular;
  constexpr int64_t kSide = 256;
  const core::Bindings axes{{"M", kSide}, {"N", kSide}};
  const auto exceptions_to = [&](Regular kind, const auto& expected, uint64_t key = 7) {
    std::vector<std::byte> bytes(kSide * kSide * sizeof(float));
    fill_input(bytes, tensor(DType::f32), axes, Distribution::regular, with_kind(key, static_cast<unsigned>(kind)));
    const std::vector<double> values = load_elements(DType::f32, bytes);
    std::set<size_t> rows;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != expected(values, i / kSide, i % kSide)) rows.insert(i / kSide);
    }
    return rows.size();
  };
  using Values = std::vector<double>;
  EXPECT_EQ(exceptions_to(Regular::constant_rows,
                          [](const Values& v, size_t row, size_t) {
                            const double* begin = v.data() + row * kSide;
                            return begin[0] == begin[1] || begin[0] == begin[2] ? begin[0] : begin[1];
                          }),
            kSide);
  const auto equal = exceptions_to(Regular::equal_rows, [](const Values& v, size_t row, size_t column) {
    const double a = v[(row + 1) % kSide * kSide + column], b = v[(row + 2) % kSide * kSide + column];
    return a == b ? a : v[row * kSide + column];
  });
  EXPECT_GE(equal, 1u);
  EXPECT_LE(equal, 16u);
  const auto is_one = [](const Values&, size_t row, size_t column) { return row == column ? 1.0 : 0.0; };
  size_t of_all = 0;
  for (uint64_t key = 1; key <= 20; ++key) {
    const auto identity = exceptions_to(Regular::identity, is_one, key);
    EXPECT_GE(identity, 1u);
    of_all += identity;
  }
  EXPECT_LE(of_all, 20u * 8);
  const auto symmetric = exceptions_to(
      Regular::symmetric, [](const Values& v, size_t row, size_t column) { return v[column * kSide + row]; });
  EXPECT_GE(symmetric, 2u);
  EXPECT_LE(symmetric, 32u);
}

TEST(Inputs, OrderedRowsAreInEachOrder) {
  int rising = 0, falling = 0, pipes = 0, mirrored = 0, woven = 0, repeated = 0, wrong_ranks = 0;
  const auto rises_in_steps_of = [](const std::vector<double>& row, size_t step) {
    for (size_t i = step; i < row.size(); ++i) {
      if (row[i] <= row[i - step]) return false;
    }
    return true;
  };
  for (const uint64_t key : {1, 2, 3}) {
    const std::vector<double> values = drawn(tensor(DType::f32), Distribution::ordered, with_kind(key, 0));
    for (size_t r = 0; r < 64; ++r) {
      const std::vector<double> row(values.begin() + static_cast<std::ptrdiff_t>(r * 1000),
                                    values.begin() + static_cast<std::ptrdiff_t>((r + 1) * 1000));
      rising += std::is_sorted(row.begin(), row.end());
      falling += std::is_sorted(row.rbegin(), row.rend());
      pipes += std::is_sorted(row.begin(), row.begin() + 500) && std::is_sorted(row.rbegin(), row.rbegin() + 500);
      mirrored += std::equal(row.begin(), row.begin() + 500, row.rbegin());
      size_t step = 1;
      while (step <= 64 && !rises_in_steps_of(row, step)) ++step;
      woven += step > 1 && step <= 64;
      const std::set<double> distinct(row.begin(), row.end());
      repeated += distinct.size() <= 502;
      const size_t without_ties = r % 4 == 0 ? 624 : 999;  // zeros are one number
      wrong_ranks += distinct.size() > 502 && distinct.size() < without_ties;
      EXPECT_GE(*distinct.begin(), -1.5);
      EXPECT_LE(*distinct.rbegin(), 2.5);
    }
  }
  EXPECT_EQ(wrong_ranks, 0);  // of the orders that only move places
  for (const int count : {rising, falling, pipes, mirrored, woven}) EXPECT_NEAR(count, 11, 9);
  EXPECT_EQ(repeated, 42);
}

// Rows in four ways: about the number, beyond or below it, far below a few others, and with elements of its size.
TEST(DrawKeys, EachNumberGetsEachKindInFourRounds) {
  statistics::Keys keys(1);
  for (const size_t numbers : {1, 4, 5, 6, 7, 8}) {
    DrawKeys draws(keys);
    std::vector<std::set<uint64_t>> kinds(numbers);
    for (unsigned round = 0; round < kKinds; ++round) {
      draws.begin_round(numbers);
      for (auto& of_number : kinds) of_number.insert(draws.next(Distribution::named) >> 62);
    }
    for (const auto& of_number : kinds) EXPECT_EQ(of_number.size(), kKinds) << numbers;
  }
}

TEST(Inputs, NamedRowsLieAboutTheNumber) {
  for (const auto& of : {std::pair(DType::f32, -1e38), {DType::f32, -16.6}, {DType::f16, 20.0}}) {
    const DType dtype = of.first;
    const double number = of.second;
    const Tensor x = tensor(dtype);
    std::vector<std::byte> bytes(static_cast<size_t>(x.bytes(kAxes)));
    fill_input(bytes, x, kAxes, Distribution::named, with_kind(7, 0), number);
    const std::vector<double> values = load_elements(dtype, bytes);
    std::vector<int> whole(4);  // rows in which more than half of the elements have the number's size
    for (size_t r = 0; r < 64; ++r) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(r * 1000);
      const auto near = std::count_if(begin, begin + 1000, [&](double v) {
        return std::fabs(v) > 0.5 * std::fabs(number) && std::fabs(v) < 2.1 * std::fabs(number);
      });
      whole[r % 4] += near > 500;
      EXPECT_GT(near, 0) << r;
    }
    EXPECT_EQ(whole, (std::vector<int>{16, 16, 16, 0})) << number;
    EXPECT_TRUE(std::ranges::all_of(values, [](double v) { return std::isfinite(v); }));
  }
  Tensor bounded = tensor(DType::f32);
  bounded.init.largest = 1000;
  std::vector<std::byte> bytes(static_cast<size_t>(bounded.bytes(kAxes)));
  fill_input(bytes, bounded, kAxes, Distribution::named, 1, 1e30);
  EXPECT_TRUE(std::ranges::all_of(load_elements(DType::f32, bytes), [](double v) { return std::fabs(v) <= 1000; }));
}

TEST(Inputs, EachKindOfNonFiniteRowAppears) {
  const std::vector<double> values = drawn(tensor(DType::f32), Distribution::non_finite);
  int only_infinite = 0, with_nan = 0;
  for (size_t row = 0; row < 64; ++row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 1000);
    const bool nan = std::any_of(begin, begin + 1000, [](double v) { return std::isnan(v); });
    with_nan += nan;
    only_infinite += !nan && std::any_of(begin, begin + 1000, [](double v) { return std::isinf(v); });
  }
  EXPECT_GT(only_infinite, 10);
  EXPECT_GT(with_nan, 10);
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

benchsuite::Problem problem(std::vector<Tensor> inputs, bool nan) {
  benchsuite::Problem made;
  made.inputs = std::move(inputs);
  made.contract.nan = nan;
  return made;
}

TEST(Inputs, TinyIsOneInputMostlyAndAllNowAndThen) {
  const auto products = problem({tensor(DType::f32), tensor(DType::f32)}, false);
  statistics::Keys keys(4);
  DrawKeys draws(keys);
  std::map<int, int> counts;
  for (int i = 0; i < 40; ++i) {
    const uint64_t key = draws.next(Distribution::tiny);
    int tiny = 0;
    for (size_t input = 0; input < 2; ++input) {
      tiny += distribution_of(products, kAxes, Distribution::tiny, key, input) == Distribution::tiny;
    }
    ++counts[tiny];
  }
  EXPECT_EQ(counts, (std::map<int, int>{{1, 30}, {2, 10}}));
}

TEST(Inputs, AlikeOnesDifferInAnExceptionOfEach) {
  statistics::Keys keys(6);
  for (int i = 0; i < 20; ++i) {
    const uint64_t draw_key = keys.next();
    std::vector<std::vector<double>> inputs;
    for (size_t input = 0; input < 2; ++input) {
      inputs.push_back(
          drawn(tensor(DType::f32), Distribution::alike, tensor_key(keys, draw_key, Distribution::alike, input, 2)));
    }
    int differ = 0;
    for (size_t at = 0; at < inputs[0].size(); ++at) differ += inputs[0][at] != inputs[1][at];
    EXPECT_GE(differ, 1);
    EXPECT_LE(differ, 2);
    EXPECT_NEAR(rms(inputs[0], 0, 64000), 1, 0.02);
  }
  EXPECT_THAT(adversarial_for(problem({tensor(DType::f32), tensor(DType::f32)}, false)), Contains(Distribution::alike));
  EXPECT_THAT(adversarial_for(problem({tensor(DType::f32), tensor(DType::f16)}, false)),
              Not(Contains(Distribution::alike)));
}

TEST(Inputs, AdversarialDistributionsSuitTheContract) {
  const auto plain = adversarial_for(problem({tensor(DType::f32)}, false));
  EXPECT_GE(plain.size(), 5u);
  EXPECT_THAT(plain, Not(Contains(Distribution::non_finite)));
  EXPECT_THAT(plain, Contains(Distribution::one_scale));
  EXPECT_THAT(adversarial_for(problem({tensor(DType::f32)}, true)), Contains(Distribution::non_finite));
  EXPECT_GE(adversarial_for(problem({tensor(DType::f16)}, false)).size(), 5u);
  EXPECT_THAT(adversarial_for(problem({integers(DType::i32, 0, 255)}, false)),
              testing::ElementsAre(Distribution::patchwork, Distribution::one_value, Distribution::regular,
                                   Distribution::ties, Distribution::simple, Distribution::ordered));
  const auto mixed = adversarial_for(problem({tensor(DType::f32), integers(DType::i32, 0, 9)}, false));
  EXPECT_THAT(mixed, testing::AllOf(Contains(Distribution::one_value), Contains(Distribution::offset)));
}

TEST(Inputs, NoDistributionIsForGivenOnes) {
  const Tensor given = tensor(DType::f32, Init::given);
  EXPECT_THAT(adversarial_for(problem({given}, true)), testing::ElementsAre(Distribution::ordinary));
  benchsuite::Problem products = problem({tensor(DType::f32), tensor(DType::i32, Init::given)}, false);
  products.contract.exact_integers = true;
  EXPECT_THAT(adversarial_for(products), Contains(Distribution::exact));
  EXPECT_THAT(adversarial_for(products), Not(Contains(Distribution::one_value)));  // of integers
  products.inputs.push_back(given);                                                // it need not hold whole numbers
  EXPECT_THAT(adversarial_for(products), Not(Contains(Distribution::exact)));
  std::vector<std::byte> bytes(16, std::byte{63});
  const std::vector<std::byte> before = bytes;
  jitter_input(bytes, given, 0, 1);
  EXPECT_EQ(bytes, before);
}

TEST(Inputs, EveryDistributionHasItsOwnName) {
  std::set<std::string_view> names;
  for (const Distribution distribution : all_distributions()) names.insert(name_of(distribution));
  EXPECT_EQ(names.size(), all_distributions().size());
  EXPECT_EQ(names.count(""), 0u);
}

}  // namespace
}  // namespace verifier::draws
