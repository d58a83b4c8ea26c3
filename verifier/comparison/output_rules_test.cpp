#include "verifier/comparison/output_rules.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "verifier/comparison/compare_fixture.h"

namespace verifier::comparison::test {
namespace {
using benchsuite::OutputComparison;
using benchsuite::OutputRule;
using core::Expr;

const core::Bindings kAxes{{"M", 2}, {"N", 5}, {"K", 3}};

benchsuite::Tensor tensor(const std::string& name, DType dtype, const std::vector<std::string>& shape,
                          OutputComparison comparison = {}) {
  benchsuite::Tensor made{name, dtype, {}, {}, std::move(comparison)};
  for (const std::string& extent : shape) made.shape.push_back(Expr::parse(extent));
  return made;
}

// The largest K of each row of x with their places; the places are compared by `rule`.
benchsuite::Problem top_k(const OutputComparison& rule) {
  benchsuite::Problem problem;
  problem.contract.accumulate = DType::f32;
  problem.inputs = {tensor("x", DType::f32, {"M", "N"})};
  problem.outputs = {tensor("places", DType::i32, {"M", "K"}, rule), tensor("values", DType::f32, {"M", "K"})};
  return problem;
}

std::optional<verdicts::Verdict> judged(const benchsuite::Problem& problem, size_t index, const Contents& inputs,
                                        const Contents& outputs, const NaiveRun& expected, bool exact = false,
                                        const std::string& drawn_as = "") {
  const benchsuite::Tensor& output = problem.outputs[index];
  const auto columns = static_cast<size_t>(output.shape.back().eval(kAxes));
  const OutputForm form{output.dtype,
                        DType::f32,
                        tiling_of(columns, static_cast<size_t>(output.elements(kAxes))),
                        {},
                        output.name,
                        {"", "", drawn_as, ""},
                        extents(output, kAxes)};
  const auto gather = [&](size_t input, const std::vector<int64_t>& places) {
    return gathered(inputs[input], core::size_bytes(problem.inputs[input].dtype), places);
  };
  const auto result = compare_by_rule(form, exact, {problem, kAxes, index, gather, outputs, expected, {}});
  if (const auto* verdict = std::get_if<verdicts::Verdict>(&result)) return *verdict;
  return std::nullopt;
}

const std::vector<std::byte> kX = stored(DType::f32, Floats{1, 7, 7, 3, 7, 5, 4, 3, 2, 1});
const std::vector<std::byte> kRight = stored(DType::i32, std::vector<int>{1, 2, 4, 0, 1, 2});
const std::vector<std::byte> kValues = stored(DType::f32, Floats{7, 7, 7, 5, 4, 3});

// The reason for refusing these places; "" if they are accepted.
std::string reason(const std::vector<int>& places, const OutputComparison& rule,
                   const std::vector<std::byte>& values = kValues) {
  const auto given = stored(DType::i32, places);
  const auto verdict = judged(top_k(rule), 0, {kX}, {given, values}, {kRight, {}});
  return verdict ? std::get<verdicts::WrongResult>(*verdict).pattern->sentence : "";
}

TEST(OutputRules, AnyPlaceOfEqualValuesWillDo) {
  const OutputComparison rule{OutputRule::indices, "x", "values"};
  EXPECT_EQ(reason({1, 2, 4, 0, 1, 2}, rule), "");
  EXPECT_EQ(reason({4, 1, 2, 0, 1, 2}, rule), "");
  EXPECT_THAT(reason({1, 2, 4, 1, 0, 2}, rule), testing::HasSubstr("another value than values has"));
}

TEST(OutputRules, APlaceOccursOnceInARowAndLiesInIt) {
  for (const std::string values : {"", "values"}) {
    const OutputComparison rule{OutputRule::indices, "x", values};
    EXPECT_THAT(reason({1, 1, 4, 0, 1, 2}, rule), testing::HasSubstr("twice"));
    EXPECT_THAT(reason({1, 2, 5, 0, 1, 2}, rule), testing::HasSubstr("no place in a row of x"));
    EXPECT_THAT(reason({1, 2, -1, 0, 1, 2}, rule), testing::HasSubstr("no place in a row of x"));
    EXPECT_NE(reason({1, 2, 3, 0, 1, 2}, rule), "");
  }
}

TEST(OutputRules, PlacesInAnyOrderStillBelongToTheirValues) {
  const OutputComparison alone{OutputRule::indices, "x", "", true}, paired{OutputRule::indices, "x", "values", true};
  const auto turned = stored(DType::f32, Floats{7, 7, 7, 3, 4, 5});
  EXPECT_EQ(reason({4, 2, 1, 2, 1, 0}, alone), "");
  EXPECT_EQ(reason({4, 2, 1, 2, 1, 0}, paired, turned), "");
  EXPECT_NE(reason({4, 2, 1, 2, 1, 0}, paired), "");
  EXPECT_THAT(reason({4, 2, 1, 3, 1, 0}, alone), testing::HasSubstr("other values than the right ones"));
}

TEST(OutputRules, OneIndexARowLeadsIntoIt) {
  benchsuite::Problem problem;
  problem.inputs = {tensor("x", DType::f32, {"M", "N"})};
  problem.outputs = {tensor("argmax", DType::i64, {"M"}, {OutputRule::indices, "x", ""})};
  const auto right = stored(DType::i64, std::vector<int>{1, 0});
  const auto accepted = [&](const std::vector<int>& places) {
    const auto given = stored(DType::i64, places);
    return !judged(problem, 0, {kX}, {given}, {right, {}});
  };
  EXPECT_TRUE(accepted({1, 0}));
  EXPECT_TRUE(accepted({4, 0}));
  EXPECT_FALSE(accepted({4, 1}));
}

TEST(OutputRules, RowsInAnyOrderHoldTheSameElements) {
  benchsuite::Problem problem;
  problem.contract.accumulate = DType::f32;
  problem.outputs = {tensor("y", DType::f32, {"M", "N"}, {OutputRule::any_order, "", ""})};
  const Doubles right{1, 2, 3, 4, 5, -1, -0.0, 0, 1, 2};
  const auto reference = stored(DType::f64, right), naive = stored(DType::f32, right);
  const auto accepted = [&](const Floats& values, bool exact) {
    const auto given = stored(DType::f32, values);
    return !judged(problem, 0, {}, {given}, {reference, naive}, exact);
  };
  for (const bool exact : {false, true}) {
    EXPECT_TRUE(accepted({5, 4, 3, 2, 1, 2, 1, 0, 0, -1}, exact));
    EXPECT_FALSE(accepted({5, 4, 3, 2, 2, 2, 1, 0, 0, -1}, exact));
    EXPECT_FALSE(accepted({5, 4, 3, 2, -1, 2, 1, 0, 0, 1}, exact)) << "an element of another row";
    EXPECT_FALSE(accepted({5, 4, 3, 2, NAN, 2, 1, 0, 0, -1}, exact));
  }
  const float off = 1 + 0x1p-23f;
  EXPECT_FALSE(accepted({5, 4, 3, 2, off, 2, 1, 0, 0, -1}, true));
}

TEST(OutputRules, LargeIntegersInAnyOrderAreToldApart) {
  benchsuite::Problem problem;
  problem.outputs = {tensor("y", DType::i64, {"M"}, {OutputRule::any_order, "", ""})};
  const std::vector<int64_t> right{(int64_t{1} << 60) + 1, int64_t{1} << 60}, turned{right[1], right[0]};
  const auto accepted = [&](const std::vector<int64_t>& values) {
    return !judged(problem, 0, {}, {std::as_bytes(std::span(values))}, {std::as_bytes(std::span(right)), {}});
  };
  EXPECT_TRUE(accepted(turned));
  EXPECT_FALSE(accepted({right[0], right[0]}));
}

// Quotients from -127 to 127, and whole numbers made of them.
class Quanta8Bits : public testing::Test {
 protected:
  Quanta8Bits() { problem.outputs = {tensor("q", DType::i8, {"M", "1000"}, {OutputRule::quanta, "", ""})}; }

  Doubles rounded() const {
    Doubles whole(quotients);
    for (double& value : whole) value = std::rint(value);
    return whole;
  }
  bool accepted(const Doubles& q, const Doubles& naive, const std::string& drawn_as = "") const {
    return !judged(problem, 0, {}, {stored(DType::i8, q)}, {stored(DType::f64, quotients), stored(DType::i8, naive)},
                   false, drawn_as);
  }
  bool accepted(const Doubles& q) const { return accepted(q, rounded()); }

  benchsuite::Problem problem;
  Doubles quotients = [] {
    const Floats values = normal(2000, 3, 30);
    Doubles clamped(values.begin(), values.end());
    for (double& value : clamped) value = std::clamp(value, -127.0, 127.0);
    clamped[0] = 127;
    return clamped;
  }();
};

TEST_F(Quanta8Bits, AreTheNearestWholeNumbers) {
  EXPECT_TRUE(accepted(rounded()));
  for (const size_t at : {0u, 1u, 999u, 1000u, 1999u}) {
    Doubles q = rounded();
    q[at] += q[at] < 0 ? 1 : -1;
    EXPECT_FALSE(accepted(q)) << quotients[at];
  }
}

TEST_F(Quanta8Bits, AreNotCutInAnyRowTailOrDraw) {
  for (const std::string draw : {"ordinary", "patchwork", "spikes"}) {
    for (const size_t from : {0u, 1000u, 1985u}) {
      Doubles q = rounded();
      for (size_t i = from; i < q.size(); ++i) q[i] = std::trunc(quotients[i]);
      EXPECT_FALSE(accepted(q, rounded(), draw)) << from;
    }
  }
}

TEST_F(Quanta8Bits, NearTheMiddleEitherIsRight) {
  for (size_t i = 1; i < quotients.size(); ++i) quotients[i] = std::trunc(quotients[i] / 2) + 0.5;
  Doubles below(quotients), above(quotients);
  for (double& value : below) value -= value == 127 ? 0 : 0.5;
  for (double& value : above) value += value == 127 ? 0 : 0.5;
  for (double& value : quotients) value *= 1 + 0x1p-22;  // as a product with a rounded 127 / max
  EXPECT_TRUE(accepted(below));
  EXPECT_TRUE(accepted(above));
  quotients[1500] += 1e-3;
  EXPECT_FALSE(accepted(below));
}

// As in a row whose scale is a denormal.
TEST_F(Quanta8Bits, OnlyTheRowInWhichNaiveErrsMayErrLikeIt) {
  Doubles naive = rounded(), q = rounded();
  quotients[300] = 40.6, quotients[400] = 41.6, quotients[1300] = 40.6;
  naive[300] = naive[1300] = q[1300] = 40;
  naive[400] = q[400] = 41;
  naive[1300] = q[300] = 41;
  EXPECT_FALSE(accepted(q, naive));
  q[1300] = 41;
  EXPECT_TRUE(accepted(q, naive));
}

TEST_F(Quanta8Bits, WiderOnesAreComparedAlike) {
  for (const DType dtype : {DType::u8, DType::i32, DType::i64}) {
    problem.outputs[0].dtype = dtype;
    for (double& value : quotients) value = std::fabs(value);
    const auto right = stored(DType::f64, quotients), q = stored(dtype, rounded());
    EXPECT_FALSE(judged(problem, 0, {}, {q}, {right, q}));
    Doubles other = rounded();
    other[1234] += 1;
    EXPECT_TRUE(judged(problem, 0, {}, {stored(dtype, other)}, {right, q}));
  }
}

TEST(OutputRules, NumbersLieInTheRangesOfTheReference) {
  benchsuite::Problem problem;
  problem.outputs = {tensor("token", DType::i64, {"M"}, {OutputRule::between, "", ""})};
  const auto range = [](int64_t least, int64_t largest) { return largest << 32 | (least & 0xffffffff); };
  const auto right = stored(DType::i64, std::vector<int64_t>{range(7, 9), range(-3, 0)});
  const auto refused = [&](int64_t first, int64_t second) {
    return judged(problem, 0, {}, {stored(DType::i64, std::vector<int64_t>{first, second})}, {right, {}});
  };
  for (const int64_t first : {7, 8, 9}) {
    for (const int64_t second : {-3, 0}) EXPECT_FALSE(refused(first, second)) << first << ", " << second;
  }
  for (const int64_t wrong : {int64_t{6}, int64_t{10}, range(7, 9), int64_t{-1}})
    EXPECT_TRUE(refused(wrong, -1)) << wrong;
  const auto verdict = std::get<verdicts::WrongResult>(*refused(8, -5));
  EXPECT_EQ(verdict.index, 1);
  EXPECT_EQ(verdict.expected, -3);
  EXPECT_EQ(verdict.got, -5);
  EXPECT_EQ(std::get<verdicts::WrongResult>(*refused(12, 0)).expected, 9);
}

}  // namespace
}  // namespace verifier::comparison::test
