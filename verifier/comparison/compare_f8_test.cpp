// Outputs of 8 bits, which an honest kernel rounds once.
#include <gtest/gtest.h>

#include <cmath>

#include "verifier/comparison/compare_fixture.h"

namespace verifier::comparison {
namespace {
using namespace test;

class Compare8Bits : public testing::TestWithParam<DType> {
 protected:
  const DType dtype = GetParam();
  const ComparisonCase form{dtype, 512, {}, false};
  const Floats x = normal(8192, 9);
  const Doubles r{x.begin(), x.end()};

  double largest() const { return draws::largest_of(dtype); }
  double step_at(double value) const { return draws::ulp_at(dtype, value); }
  std::string verdict(const Doubles& y, const Doubles& right) const {
    return name_of(judged({dtype, right.size(), {}, false}, y, right, right));
  }
  std::string verdict(const Doubles& y) const { return name_of(judged(form, y, r, x)); }
};
INSTANTIATE_TEST_SUITE_P(Formats, Compare8Bits, testing::Values(DType::f8e4m3, DType::f8e5m2),
                         [](const auto& dtype) { return std::string(core::name_of(dtype.param)); });

TEST_P(Compare8Bits, OneRoundingIsAccepted) {
  EXPECT_EQ(verdict(r), "accepted");
  Doubles in_float(r);
  for (double& value : in_float) value *= 1 + 1e-7;  // which crosses the middle of two numbers here and there
  EXPECT_EQ(verdict(in_float), "accepted");
}

TEST_P(Compare8Bits, OtherRoundingsAreRefused) {
  Doubles truncated(r), twice(r), away(r);
  for (size_t i = 0; i < r.size(); ++i) {
    const double step = step_at(r[i]);
    truncated[i] = std::trunc(r[i] / step) * step;
    twice[i] = std::rint(r[i] / step / 2) * step * 2;
    away[i] = std::copysign(std::ceil(std::fabs(r[i]) / step) * step, r[i]);
  }
  for (const Doubles& y : {truncated, twice, away}) EXPECT_EQ(verdict(y), "wrong_result");
}

TEST_P(Compare8Bits, OneElementShowsByItsOwnStep) {
  for (const size_t at : {0u, 100u, 8191u}) {
    Doubles y(r);
    y[at] = 2 * std::copysign(std::max(std::fabs(r[at]), 0.5), r[at]);
    EXPECT_EQ(verdict(y), "wrong_result") << r[at];
    y[at] = 0;
    if (std::fabs(r[at]) > 0.5) {
      EXPECT_EQ(verdict(y), "wrong_result") << r[at];
    }
  }
  Doubles y(r);
  for (size_t i = 40; i < r.size(); i += 97) y[i] += 2 * step_at(r[i]);
  EXPECT_EQ(verdict(y), "wrong_result");
}

// A step of a small number is far below the tile's scale.
TEST_P(Compare8Bits, SmallNumbersAreHeldAtTheirOwnStep) {
  const double least = draws::least_normal(dtype);
  Doubles wide(r), rounded, flushed, cut;
  for (size_t i = 0; i < wide.size(); ++i) wide[i] *= i % 8 == 0 ? least : largest() / 8;
  for (const double value : wide) {
    rounded.push_back(draws::rounded_to(dtype, value));
    flushed.push_back(std::fabs(rounded.back()) < least ? 0 : rounded.back());
    const double step = step_at(value);
    cut.push_back(std::fabs(value) < least ? std::trunc(value / step) * step : rounded.back());
  }
  const auto of_sums = [&](const Doubles& y, double terms) {
    return name_of(judged({dtype, 512, {terms}, false}, y, wide, rounded));
  };
  EXPECT_EQ(of_sums(rounded, 1), "accepted");
  EXPECT_EQ(of_sums(flushed, 1), "wrong_result");
  EXPECT_EQ(of_sums(cut, 1), "wrong_result");
  EXPECT_EQ(of_sums(cut, 512), "accepted");  // of terms as large as its tile's
}

TEST_P(Compare8Bits, AScaleOrATailThatIsMissingIsRefused) {
  Doubles unscaled(r), tailless(r);
  for (double& value : unscaled) value *= 1.1;
  for (size_t i = r.size() - 16; i < r.size(); ++i) tailless[i] = 0;
  EXPECT_EQ(verdict(unscaled), "wrong_result");
  EXPECT_EQ(verdict(tailless), "wrong_result");
}

// CUDA's classes saturate; PyTorch's conversions do not.
TEST_P(Compare8Bits, WhatOverflowsMaySaturateAndNothingElse) {
  const double beyond = dtype == DType::f8e4m3 ? NAN : INFINITY, most = largest();
  const Doubles right{2 * most, -1e9, static_cast<double>(INFINITY), most / 2, most};
  EXPECT_EQ(verdict({most, -most, most, most / 2, most}, right), "accepted");
  EXPECT_EQ(verdict({beyond, -beyond, beyond, most / 2, most}, right), "accepted");
  EXPECT_EQ(verdict({most, most, most, most / 2, most}, right), "wrong_result");
  EXPECT_EQ(verdict({0, -most, most, most / 2, most}, right), "wrong_result");
  EXPECT_EQ(verdict({most, -most, most, beyond, most}, right), "wrong_non_finite");
  EXPECT_EQ(verdict({most, -most, most, most / 2, beyond}, right), "wrong_non_finite");
  EXPECT_EQ(verdict({most, -most, most, most / 2, most}, {NAN, -1e9, 1e9, most / 2, most}), "wrong_non_finite");
}

TEST_P(Compare8Bits, TheExactBatteryKnowsSaturation) {
  const ComparisonCase exact{dtype, 4, {}, true};
  const double beyond = dtype == DType::f8e4m3 ? NAN : INFINITY, most = largest();
  const Doubles right{2 * most, -1e9, 3, 0.5};
  EXPECT_EQ(name_of(judged(exact, Doubles{most, -most, 3, 0.5}, right, right)), "accepted");
  EXPECT_EQ(name_of(judged(exact, Doubles{beyond, -beyond, 3, 0.5}, right, right)), "accepted");
  EXPECT_EQ(name_of(judged(exact, Doubles{most, most, 3, 0.5}, right, right)), "wrong_result");
  EXPECT_EQ(name_of(judged(exact, Doubles{most, -most, 3.5, 0.5}, right, right)), "wrong_result");
}

TEST_P(Compare8Bits, CopiesAreExact) {
  Doubles copied(256), y;
  for (size_t i = 0; i < copied.size(); ++i) copied[i] = draws::rounded_to(dtype, r[i]);
  y = copied;
  EXPECT_EQ(verdict(y, copied), "accepted");
  y[200] += step_at(copied[200]);
  EXPECT_EQ(verdict(y, copied), "wrong_result");
}

}  // namespace
}  // namespace verifier::comparison
