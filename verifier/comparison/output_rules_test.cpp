#include "verifier/comparison/output_rules.h"

#include <gmock/gmock.h>

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

TEST(OutputRules, QuantaMayBeOneOffAndRarelyTwo) {
  benchsuite::Problem problem;
  problem.outputs = {tensor("q", DType::i8, {"1000 * M"}, {OutputRule::quanta, "", ""})};
  const auto accepted = [&](int ones, int twos, int threes) {
    std::vector<int> values(2000);
    for (int i = 0; i < ones + twos + threes; ++i)
      values[static_cast<size_t>(i)] = i < ones ? -1 : i < ones + twos ? 2 : 3;
    const auto right = stored(DType::i8, std::vector<int>(2000)), given = stored(DType::i8, values);
    return !judged(problem, 0, {}, {given}, {right, {}});
  };
  EXPECT_TRUE(accepted(2000, 0, 0));
  EXPECT_TRUE(accepted(0, 2, 0));
  EXPECT_FALSE(accepted(0, 3, 0));
  EXPECT_FALSE(accepted(0, 0, 1));
}

// A kernel that cuts instead of rounding is one off in half of the elements. In other draws many may lie at a half.
TEST(OutputRules, QuantaOfAnOrdinaryDrawAreMostlyRight) {
  benchsuite::Problem problem;
  std::vector<std::string> shape{"M", "5", "200"};
  problem.outputs = {tensor("q", DType::i8, shape, {OutputRule::quanta, "", ""})};
  const auto off_by_one = [](size_t count) {
    std::vector<int> values(2000);
    std::fill_n(values.begin(), count, 1);
    return stored(DType::i8, values);
  };
  const auto accepted = [&](size_t ones, size_t ones_of_naive, const std::string& drawn_as) {
    const auto right = off_by_one(0), naive = off_by_one(ones_of_naive);
    return !judged(problem, 0, {}, {off_by_one(ones)}, {right, naive}, false, drawn_as);
  };
  EXPECT_TRUE(accepted(100, 0, "ordinary"));
  EXPECT_FALSE(accepted(101, 0, "ordinary"));
  EXPECT_TRUE(accepted(1000, 0, "patchwork"));
  EXPECT_TRUE(accepted(1000, 225, "ordinary"));
  shape = {"1000 * M"};  // one row, whose scale may be a power of two
  problem.outputs = {tensor("q", DType::i8, shape, {OutputRule::quanta, "", ""})};
  EXPECT_TRUE(accepted(1000, 0, "ordinary"));
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
