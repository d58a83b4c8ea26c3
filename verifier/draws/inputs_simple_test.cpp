// Inputs of which something simple is true throughout (formulas::Simple).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "benchsuite/problem.h"
#include "core/paths.h"
#include "verifier/draws/elements.h"
#include "verifier/draws/inputs.h"
#include "verifier/statistics/keys.h"

namespace verifier::draws {
namespace {
using benchsuite::Init;
using benchsuite::Tensor;
using core::DType;
using core::Expr;
using formulas::Simple;

constexpr size_t kRows = 12, kColumns = 9;
constexpr uint64_t kKeys = 60;

// [3, 4, 9]
Tensor twelve_rows(DType dtype, Init kind = Init::normal, double low = 0, double high = 16) {
  Tensor made{"x", dtype, {Expr::constant(3), Expr::constant(4), Expr::constant(kColumns)}, {}};
  made.init.kind = kind;
  made.init.scale = 0.05;
  made.init.low = low;
  made.init.high = high;
  made.init.least = Expr::constant(static_cast<int64_t>(low));
  made.init.most = Expr::constant(static_cast<int64_t>(high));
  return made;
}
std::vector<double> simple_content(const Tensor& tensor, Simple kind, uint64_t key) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes({})));
  fill_input(bytes, tensor, {}, Distribution::simple, with_kind(statistics::one_way(key), static_cast<unsigned>(kind)));
  return load_elements(tensor.dtype, bytes);
}
bool is_power_of_two(double value) {
  int exponent = 0;
  return std::frexp(std::fabs(value), &exponent) == 0.5;
}

// A kernel may look at all weights before it treats them as ones, or at a filter before it sums along.
TEST(SimpleInputs, RowsAreOneNumberEachOrTogether) {
  int ones = 0, zeros = 0, others = 0;
  std::set<size_t> counts;  // of different rows
  for (const auto& [x, of_bounds] :
       {std::pair(twelve_rows(DType::f32), false), {twelve_rows(DType::f32, Init::uniform), true}}) {
    for (uint64_t key = 1; key <= kKeys; ++key) {
      const std::vector<double> values = simple_content(x, Simple::one_number, key);
      std::set<double> seen;
      for (size_t i = 0; i < values.size(); ++i) {
        const double first = values[i / kColumns * kColumns];
        ASSERT_EQ(values[i], first) << i;
        if (!seen.insert(first).second) continue;
        (first == 1 ? ones : first == 0 ? zeros : others) += 1;
        ASSERT_TRUE(!of_bounds || (first >= 0 && first < 16));
      }
      bool by_threes = true;
      for (size_t row = 0; row < kRows; ++row) by_threes &= values[row * kColumns] == values[row / 4 * 4 * kColumns];
      counts.insert(seen.size() == 1 ? 1 : by_threes ? 3 : kRows);
    }
  }
  EXPECT_GE(ones, 40);
  EXPECT_GE(zeros, 40);
  EXPECT_GE(others, 40);
  EXPECT_EQ(counts, (std::set<size_t>{1, 3, kRows}));
}

TEST(SimpleInputs, NumbersAreWholeFewAndMany) {
  double largest = 0, least_of_draws = 1e9;
  int of_both_signs = 0, not_negative = 0;
  for (uint64_t key = 1; key <= kKeys; ++key) {
    const std::vector<double> values = simple_content(twelve_rows(DType::f32), Simple::whole, key);
    for (const double value : values) ASSERT_EQ(value, std::round(value));
    const double most = std::ranges::max(values);
    (std::ranges::min(values) < 0 ? of_both_signs : not_negative) += 1;
    largest = std::max(largest, most);
    least_of_draws = std::min(least_of_draws, most);
    for (const double value : simple_content(twelve_rows(DType::f16, Init::uniform), Simple::whole, key)) {
      ASSERT_TRUE(value == std::round(value) && value >= 0 && value < 16) << value;
    }
    for (const double value : simple_content(twelve_rows(DType::f16), Simple::whole, key))
      ASSERT_LE(std::fabs(value), 15);
    for (const double value : simple_content(twelve_rows(DType::f32, Init::uniform, 0.25, 0.75), Simple::whole, key)) {
      ASSERT_TRUE(value >= 0.25 && value < 0.75);  // where no whole number lies, content is ordinary
    }
  }
  EXPECT_GT(largest, 32767);
  EXPECT_LE(least_of_draws, 2);
  EXPECT_GE(of_both_signs, 15);
  EXPECT_GE(not_negative, 15);
}

// Scales of groups are often powers of two, and tensors often come from bf16, f16 or f8.
TEST(SimpleInputs, SignificandsHaveFewBits) {
  std::set<int> most_bits;
  for (uint64_t key = 1; key <= kKeys; ++key) {
    int most = 0;
    for (const double value : simple_content(twelve_rows(DType::f32), Simple::few_bits, key)) {
      if (value == 0) continue;  // below what f8 holds
      int exponent = 0, bits = 1;
      double significand = std::frexp(std::fabs(value), &exponent) * 2;  // [1, 2)
      ASSERT_GE(significand, 1) << value;
      for (; significand != std::floor(significand); significand *= 2) ++bits;
      most = std::max(most, bits);
    }
    most_bits.insert(most);
    for (const double value :
         simple_content(twelve_rows(DType::f32, Init::uniform, 0.001, 0.1), Simple::few_bits, key)) {
      ASSERT_TRUE(value >= 0.001 && value < 0.1) << value;
    }
    for (const double value : simple_content(twelve_rows(DType::i32, Init::integers, 0, 100), Simple::few_bits, key)) {
      ASSERT_TRUE(is_power_of_two(value) && value <= 64) << value;
    }
  }
  EXPECT_EQ(most_bits, (std::set{1, 4, 8, 11}));
}

// Positions, for which a kernel may copy a block at once, follow each other from any first.
TEST(SimpleInputs, IntegersFollowEachOther) {
  int by_ones = 0, through_rows = 0;
  for (uint64_t key = 1; key <= kKeys; ++key) {
    const std::vector<double> values =
        simple_content(twelve_rows(DType::i32, Init::integers, 0, 1 << 20), Simple::evenly_spaced, key);
    const double step = values[1] - values[0];
    for (size_t i = 1; i < values.size(); ++i) {
      const bool goes_on = i % kColumns != 0 && values[i] > values[i - 1];
      ASSERT_EQ(goes_on ? values[i] - values[i - 1] : step, step);
    }
    by_ones += step == 1;
    through_rows += values[kColumns] - values[kColumns - 1] == step;
  }
  EXPECT_GE(by_ones, 30);
  EXPECT_GE(through_rows, 15);
  EXPECT_LE(through_rows, 45);
  for (const double value : simple_content(twelve_rows(DType::i8, Init::integers, -3, 4), Simple::evenly_spaced, 1)) {
    ASSERT_TRUE(value >= -3 && value <= 4);
  }
}

TEST(SimpleInputs, SegmentsAreEquallyLongAndProbabilitiesEqual) {
  Tensor offsets{"offsets", DType::i32, {Expr::constant(25)}, {}};
  offsets.init.kind = Init::sorted;
  offsets.init.least = Expr::constant(0);
  offsets.init.most = Expr::constant(24 * 7);
  const std::vector<double> ends = simple_content(offsets, Simple::evenly_spaced, 1);
  for (size_t i = 0; i < ends.size(); ++i) EXPECT_EQ(ends[i], static_cast<double>(7 * i));
  Tensor p = twelve_rows(DType::f32, Init::probabilities);
  for (const double value : simple_content(p, Simple::evenly_spaced, 1))
    EXPECT_EQ(value, static_cast<double>(1.0f / 9));
}

// Rows of one number have no variance, and what a problem normalises is its largest input.
TEST(SimpleInputs, TheLargestInputIsNotOneNumber) {
  const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "layernorm_f32");
  const core::Bindings axes{{"M", 8}, {"N", 64}};
  const auto x = static_cast<size_t>(std::ranges::find(problem.inputs, "x", &Tensor::name) - problem.inputs.begin());
  std::set<std::pair<size_t, unsigned>> seen;
  std::set<Distribution> beside;
  int together = 0;
  for (uint64_t turn = 0; turn < 200; ++turn) {
    const uint64_t key = key_of_one_input(turn * 0x9E3779B97F4A7C15u, turn);
    size_t simple = 0;
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      const Distribution of = distribution_of(problem, axes, Distribution::simple, key, i);
      if (of == Distribution::simple) {
        ++simple;
        seen.insert({i, static_cast<unsigned>(key >> 62)});
      } else {
        beside.insert(of);
      }
    }
    together += simple == problem.inputs.size();
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), ways_of_one_input(problem) - 1);
  EXPECT_GE(together, 10);
  EXPECT_FALSE(seen.contains({x, static_cast<unsigned>(Simple::one_number)}));
  EXPECT_EQ(beside, (std::set{Distribution::ordinary, Distribution::spikes}));
}

}  // namespace
}  // namespace verifier::draws
