// Input content drawn by the judge's kernels: what inputs_test.cpp holds the host's to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "verifier/devices/gpu/judge_on_cpu_fixture.h"
#include "verifier/draws/elements.h"
#include "verifier/statistics/random.h"

namespace verifier::devices::gpu {
namespace {
using benchsuite::Init;
using benchsuite::Tensor;
using core::DType;
using core::Expr;
using test::JudgeOnCpu;
using test::Shape;

const core::Bindings kAxes{{"M", 64}, {"N", 1000}};
constexpr size_t kElements = 64000;
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

class JudgeInputs : public testing::Test {
 protected:
  static void SetUpTestSuite() { judge_ = std::make_unique<JudgeOnCpu>(); }
  static void TearDownTestSuite() { judge_.reset(); }

  static std::vector<double> drawn(const Tensor& tensor, draws::Distribution distribution, uint64_t key = 1,
                                   Shape shape = {3, 256}) {
    const auto buffer = judge_->lend<std::byte>(static_cast<size_t>(tensor.bytes(kAxes)));
    const formulas::FillArgs args = draws::fill_args(tensor, kAxes, distribution, key);
    judge_->launch(fill_kernel(args), shape, buffer.data(), args);
    judge_->launch("kw_patch", shape, buffer.data(), args);
    return draws::load_elements(tensor.dtype, buffer);
  }
  static std::unique_ptr<JudgeOnCpu> judge_;
};
std::unique_ptr<JudgeOnCpu> JudgeInputs::judge_;

double moment(const std::vector<double>& values, int power) {
  double sum = 0;
  for (const double v : values) sum += std::pow(v, power);
  return sum / static_cast<double>(values.size());
}
double rms(const std::vector<double>& values, size_t begin = 0, size_t end = kElements) {
  return std::sqrt(moment(
      {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)}, 2));
}

TEST_F(JudgeInputs, NormalHasTheMomentsAndTailsOfN01) {
  for (const DType dtype : kFloats) {
    const std::vector<double> values = drawn(tensor(dtype), draws::Distribution::ordinary, 42);
    EXPECT_NEAR(moment(values, 1), 0, 0.016) << core::name_of(dtype);
    EXPECT_NEAR(moment(values, 2), 1, 0.025);
    EXPECT_NEAR(moment(values, 3), 0, 0.07);
    EXPECT_NEAR(moment(values, 4), 3, 0.18);
    if (core::is_f8(dtype)) continue;  // steps of 1/4 and more round tails off
    const auto beyond = [&](double at) {
      return static_cast<double>(
          std::count_if(values.begin(), values.end(), [&](double v) { return std::fabs(v) > at; }));
    };
    EXPECT_NEAR(beyond(2), 0.0455 * kElements, 250);
    EXPECT_NEAR(beyond(3.5), 4.65e-4 * kElements, 22);
    EXPECT_EQ(beyond(5.8), 0);
    double neighbours = 0;  // the two of one pair, and of two pairs, have nothing to do with each other
    for (size_t i = 0; i + 1 < values.size(); ++i) neighbours += values[i] * values[i + 1];
    EXPECT_NEAR(neighbours / kElements, 0, 0.016);
  }
  Tensor scaled = tensor(DType::f32);
  scaled.init.scale = 0.02;
  EXPECT_NEAR(rms(drawn(scaled, draws::Distribution::ordinary)), 0.02, 0.0003);
}

TEST_F(JudgeInputs, EachElementIsDrawnFromItsIndex) {
  const std::vector<double> values =
      drawn(tensor(DType::f32, Init::uniform), draws::Distribution::ordinary, 0x123456789);
  for (uint32_t i = 0; i < kElements; ++i) {
    const uint32_t number = component(formulas::philox({i / 4, 0, 0, 0}, 0x123456789), i % 4);
    ASSERT_EQ(values[i], static_cast<float>(number) * 0x1p-32f) << i;
  }
}

TEST_F(JudgeInputs, RowsBeginAnywhere) {
  const core::Bindings axes{{"M", 1000}, {"N", 7}};
  for (const draws::Distribution distribution : {draws::Distribution::one_hot, draws::Distribution::row_scales}) {
    const Tensor x = tensor(DType::f32);
    const auto buffer = judge_->lend<std::byte>(static_cast<size_t>(x.bytes(axes)));
    judge_->launch("kw_fill", {3, 256}, buffer.data(), draws::fill_args(x, axes, distribution, 4));
    const std::vector<double> values = draws::load_elements(DType::f32, buffer);
    int small = 0;
    for (size_t row = 0; row < 1000; ++row) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 7);
      if (distribution == draws::Distribution::one_hot) {
        ASSERT_EQ(std::count(begin, begin + 7, 1.0), 1) << row;
      } else {
        small += std::all_of(begin, begin + 7, [](double v) { return std::fabs(v) < 0.1; });
      }
    }
    // Those with a scale below 0.1 / 1.8 or so, the largest of seven being that: 1.75 of 6 decades.
    if (distribution == draws::Distribution::row_scales) {
      EXPECT_NEAR(small, 290, 60);
    }
  }
}

TEST_F(JudgeInputs, UniformFillsItsBounds) {
  for (const DType dtype : kFloats) {
    Tensor x = tensor(dtype, Init::uniform);
    x.init.low = -1;
    x.init.high = 3;
    const std::vector<double> values = drawn(x, draws::Distribution::ordinary);
    EXPECT_NEAR(moment(values, 1), 1, 0.02);
    EXPECT_NEAR(moment(values, 2) - 1, 16.0 / 12, 0.03);
    EXPECT_LT(*std::min_element(values.begin(), values.end()), -0.99);
    EXPECT_GT(*std::max_element(values.begin(), values.end()), 2.98);
  }
}

TEST_F(JudgeInputs, AKeyFixesTheContentWhateverTheGrid) {
  for (const draws::Distribution distribution : draws::all_distributions()) {
    for (const DType dtype : {DType::f16, DType::f8e4m3, DType::f32, DType::f64}) {
      const auto as_text = [&](uint64_t key, Shape shape) {  // NaN equals itself
        const std::vector<double> values = drawn(tensor(dtype), distribution, key, shape);
        return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
      };
      const std::string first = as_text(7, {3, 256});
      EXPECT_EQ(first, as_text(7, {1, 96}));
      EXPECT_NE(first, as_text(uint64_t{7} << 32, {3, 256}));
    }
  }
}

TEST_F(JudgeInputs, EveryElementIsWrittenAndNothingElse) {
  for (const DType dtype : kFloats) {
    const size_t size = core::size_bytes(dtype);
    for (const int64_t elements : {1, 3, 4, 7, 8, 9, 1021}) {
      for (const size_t skipped : {0, 1}) {  // elements before the tensor: no alignment to 16 bytes
        const auto buffer = judge_->lend<std::byte>((static_cast<size_t>(elements) + skipped + 8) * size);
        draws::fill_poison(buffer, 3);
        const auto before = buffer.first(skipped * size), content = buffer.subspan(skipped * size),
                   after = content.subspan(static_cast<size_t>(elements) * size);
        const std::vector<std::byte> kept(after.begin(), after.end()), kept_before(before.begin(), before.end());
        Tensor x = tensor(dtype);
        x.shape = {Expr::constant(elements)};
        const formulas::FillArgs args = draws::fill_args(x, {}, draws::Distribution::ordinary, 9);
        judge_->launch(fill_kernel(args), {2, 64}, content.data(), args);
        EXPECT_TRUE(std::equal(kept.begin(), kept.end(), after.begin()));
        EXPECT_TRUE(std::equal(kept_before.begin(), kept_before.end(), before.begin()));
        for (const double v : draws::load_elements(dtype, content.first(static_cast<size_t>(elements) * size))) {
          EXPECT_LT(std::fabs(v), 5.8);
        }
        // The same elements as those of a larger tensor at an aligned place.
        const std::vector<double> whole = drawn(tensor(dtype), draws::Distribution::ordinary, 9);
        for (size_t i = 0; i < static_cast<size_t>(elements); ++i) {
          EXPECT_EQ(draws::load_element(dtype, content, i), whole[i]) << i;
        }
      }
    }
  }
}

TEST_F(JudgeInputs, OnlyNonFiniteDrawsAreNotFinite) {
  for (const DType dtype : kFloats) {
    for (const Init kind : {Init::normal, Init::uniform}) {
      for (const draws::Distribution distribution : draws::all_distributions()) {
        const std::vector<double> values = drawn(tensor(dtype, kind), distribution);
        const auto finite = std::count_if(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
        if (distribution == draws::Distribution::non_finite) {
          EXPECT_NEAR(static_cast<double>(finite), kElements * 63.0 / 64, 150);
        } else {
          EXPECT_EQ(finite, kElements - (distribution == draws::Distribution::stray))
              << core::name_of(dtype) << " " << draws::name_of(distribution);
        }
      }
    }
  }
}

TEST_F(JudgeInputs, UniformKeepsItsBoundsInEveryDistribution) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor x = tensor(dtype, Init::uniform);
    for (const auto& [low, high] : {std::pair(0.0, 1.0), std::pair(0.5, 3.0), std::pair(-2.0, -1.0)}) {
      x.init.low = low;
      x.init.high = high;
      for (const draws::Distribution distribution : draws::all_distributions()) {
        for (const double v : drawn(x, distribution)) {
          if (!std::isfinite(v)) continue;
          ASSERT_GE(v, low) << draws::name_of(distribution);
          ASSERT_LE(v, high) << draws::name_of(distribution);
        }
      }
    }
  }
}

TEST_F(JudgeInputs, IntegersKeepTheirBoundsInEveryDistributionAndDtype) {
  for (int type = 0; type <= static_cast<int>(DType::boolean); ++type) {
    const auto dtype = static_cast<DType>(type);
    const bool without_sign = dtype == DType::u8 || dtype == DType::u32 || dtype == DType::boolean;
    const int64_t least = without_sign ? 0 : -3;
    const int64_t most = core::is_f8(dtype) ? 8 : 100;
    for (const draws::Distribution distribution : draws::all_distributions()) {
      const std::vector<double> values = drawn(integers(dtype, least, most), distribution);
      for (const double v : values) {
        ASSERT_EQ(v, std::round(v));
        ASSERT_TRUE(v >= static_cast<double>(least) && v <= static_cast<double>(most)) << v;
      }
      const std::set<double> distinct(values.begin(), values.end());
      if (distribution == draws::Distribution::one_value || distribution == draws::Distribution::regular) {
        EXPECT_LE(distinct.size(), 2u);  // the second is rare
        continue;
      }
      if (distribution == draws::Distribution::ties) {
        EXPECT_TRUE(distinct.contains(static_cast<double>(least)) && distinct.contains(static_cast<double>(most)));
        EXPECT_LE(distinct.size(), 3u);
        continue;
      }
      const size_t expected = draws::is_exact(distribution)
                                  ? static_cast<size_t>(std::min<int64_t>(most, 32) + 1 - least)
                                  : static_cast<size_t>(most + 1 - least);
      // One of each may be lost under a patch, and simple content has what it says.
      if (distribution == draws::Distribution::patchwork || distribution == draws::Distribution::simple) continue;
      EXPECT_EQ(distinct.size(), expected) << core::name_of(dtype) << " " << draws::name_of(distribution);
    }
  }
  const std::vector<double> wide = drawn(integers(DType::i64, INT64_MIN, INT64_MAX), draws::Distribution::ordinary);
  EXPECT_GT(*std::max_element(wide.begin(), wide.end()), 9e18);
  EXPECT_LT(*std::min_element(wide.begin(), wide.end()), -9e18);
  const std::vector<double> u32 = drawn(integers(DType::u32, 0, UINT32_MAX), draws::Distribution::ordinary);
  EXPECT_GT(*std::max_element(u32.begin(), u32.end()), 4.2e9);
}

TEST_F(JudgeInputs, DistributionsAreWhatTheySay) {
  const Tensor x = tensor(DType::f32);
  const std::vector<double> scaled = drawn(x, draws::Distribution::row_scales),
                            hot = drawn(x, draws::Distribution::one_hot);
  double least = INFINITY, most = 0;
  std::set<size_t> places;
  for (size_t row = 0; row < 64; ++row) {
    const double size = rms(scaled, row * 1000, (row + 1) * 1000);
    least = std::min(least, size);
    most = std::max(most, size);
    EXPECT_DOUBLE_EQ(rms(hot, row * 1000, (row + 1) * 1000), std::sqrt(1e-3));
    const auto begin = hot.begin() + static_cast<std::ptrdiff_t>(row * 1000);
    places.insert(static_cast<size_t>(std::find(begin, begin + 1000, 1.0) - begin));
  }
  EXPECT_GT(places.size(), 35u);
  EXPECT_GT(most / least, 1e3);
  EXPECT_LT(most / least, 2e6);
  EXPECT_NEAR(rms(drawn(x, draws::Distribution::offset)), 100, 0.1);
  EXPECT_NEAR(rms(drawn(tensor(DType::f16), draws::Distribution::offset)), std::sqrt(65), 0.1);
  EXPECT_NEAR(rms(drawn(x, draws::Distribution::spikes)), 125, 15);
  const std::vector<double> ties = drawn(x, draws::Distribution::ties), exact = drawn(x, draws::Distribution::exact);
  EXPECT_EQ(std::set<double>(ties.begin(), ties.end()), (std::set<double>{-0.5, 0, 0.25, 1.5}));
  EXPECT_NEAR(rms(exact), 1, 0.02);  // like an ordinary draw, in steps of 1/32
  EXPECT_TRUE(std::all_of(exact.begin(), exact.end(), [](double v) { return v * 32 == std::round(v * 32); }));
  const std::vector<double> odd = drawn(x, draws::Distribution::exact_products);
  for (size_t row = 0; row < 64; ++row) {
    const auto begin = odd.begin() + static_cast<std::ptrdiff_t>(row * 1000);
    EXPECT_EQ(std::count(begin, begin + 1000, 0.0), 999);
    const double size = std::fabs(rms(odd, row * 1000, (row + 1) * 1000) * std::sqrt(1000));
    EXPECT_EQ(std::fmod(std::round(size), 2), 1);
    EXPECT_LT(size, 4096);
  }
  EXPECT_NEAR(rms(drawn(x, draws::Distribution::one_scale)), 1e15, 2e13);
  EXPECT_NEAR(rms(drawn(tensor(DType::f16), draws::Distribution::one_scale)), 0.5, 0.01);
  const double small = rms(drawn(x, draws::Distribution::one_scale, draws::with_kind(1, 1)));
  EXPECT_NEAR(small, 0x1p-8, 0x1p-13);
  for (const DType dtype : kFloats) {
    const std::vector<double> tiny = drawn(tensor(dtype), draws::Distribution::denormals);
    const double bound = draws::least_normal(dtype), step = draws::ulp_at(dtype, 0);
    EXPECT_NEAR(static_cast<double>(
                    std::count_if(tiny.begin(), tiny.end(), [&](double v) { return v != 0 && std::fabs(v) < bound; })),
                kElements / 2.0 * (1 - step / bound), kElements / 100.0)  // half a step rounds away at either end
        << core::name_of(dtype);
  }
}

// The host draws the same numbers, but for those of N(0,1), under the same patches.
TEST_F(JudgeInputs, AreTheHostsWhereNothingIsNormal) {
  for (const DType dtype :
       {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::f32, DType::f64, DType::i32}) {
    for (const draws::Distribution distribution : draws::all_distributions()) {
      const Tensor x = core::is_floating(dtype) ? tensor(dtype, Init::uniform) : integers(dtype, -7, 1000);
      std::vector<std::byte> host(static_cast<size_t>(x.bytes(kAxes)));
      for (const uint64_t key : {5, 6, 7}) {
        draws::fill_input(host, x, kAxes, distribution, key);
        const std::vector<double> expected = draws::load_elements(dtype, host), got = drawn(x, distribution, key);
        int64_t different = 0;
        for (size_t i = 0; i < got.size(); ++i) {  // a GPU rounds through f32
          const double far = 2 * std::max(draws::ulp_at(dtype, expected[i]), draws::ulp_at(DType::f32, expected[i]));
          different += !(std::fabs(got[i] - expected[i]) <= far || (std::isnan(got[i]) && std::isnan(expected[i])) ||
                         got[i] == expected[i]);
        }
        EXPECT_EQ(different, 0) << core::name_of(dtype) << " " << draws::name_of(distribution) << " " << key;
      }
    }
  }
}

TEST_F(JudgeInputs, AreTheHostsWhereRowsHaveAStructure) {
  for (const Init kind : {Init::permutation, Init::sorted, Init::probabilities}) {
    for (const DType dtype : {DType::f32, DType::i32}) {
      if (kind == Init::probabilities && dtype == DType::i32) continue;
      Tensor x = integers(dtype, -7, 1000);
      x.init.kind = kind;
      std::vector<std::byte> host(static_cast<size_t>(x.bytes(kAxes)));
      draws::fill_input(host, x, kAxes, draws::Distribution::patchwork, 9);
      EXPECT_EQ(drawn(x, draws::Distribution::patchwork, 9), draws::load_elements(dtype, host))
          << benchsuite::name_of(kind) << " " << core::name_of(dtype);
    }
  }
}

TEST_F(JudgeInputs, ATriangularMatrixIsZeroOnOneSideOfItsDiagonal) {
  for (const Init kind : {Init::triangular, Init::upper_triangular}) {
    const Tensor x = tensor(DType::f32, kind);
    for (const draws::Distribution distribution : draws::all_distributions()) {
      const std::vector<double> values = drawn(x, distribution, 3);
      for (size_t i = 0; i < values.size(); ++i) {
        if (kind == Init::triangular ? i % 1000 > i / 1000 : i % 1000 < i / 1000) {
          ASSERT_EQ(values[i], 0) << i << " " << draws::name_of(distribution);
        }
      }
    }
  }
}

TEST_F(JudgeInputs, EachKindOfNonFiniteRowAppears) {
  const std::vector<double> values = drawn(tensor(DType::f32), draws::Distribution::non_finite);
  int only_infinite = 0, only_nan = 0, both = 0;
  for (size_t row = 0; row < 64; ++row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * 1000);
    const bool nan = std::any_of(begin, begin + 1000, [](double v) { return std::isnan(v); });
    const bool infinite = std::any_of(begin, begin + 1000, [](double v) { return std::isinf(v); });
    only_infinite += !nan && infinite;
    only_nan += nan && !infinite;
    both += nan && infinite;
  }
  EXPECT_GT(only_infinite, 15);
  EXPECT_GT(only_nan, 5);
  EXPECT_GT(both, 5);
}

TEST_F(JudgeInputs, ADrawOfOneRowHasTheKindOfItsKey) {
  for (unsigned kind = 0; kind < draws::kKinds; ++kind) {
    const std::vector<double> values =
        drawn(one_row(), draws::Distribution::non_finite, draws::with_kind(0x123456789ABCDEFull, kind));
    const bool nan = std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
    EXPECT_EQ(nan, kind == 0 || kind == 3) << kind;
    EXPECT_EQ(std::count(values.begin(), values.end(), INFINITY) > 0, kind == 1 || kind == 3) << kind;
    EXPECT_EQ(std::count(values.begin(), values.end(), -INFINITY) > 0, kind == 2 || kind == 3) << kind;
  }
}

}  // namespace
}  // namespace verifier::devices::gpu
