// Scalars, lists of sizes, the number of tensors and bool in problem.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchsuite/problem_fixture.h"

namespace benchsuite {
namespace {
using namespace test;
using testing::HasSubstr;

TEST(Problem, HasScalarsOfFourDtypes) {
  Json json = Json::parse(kProblem);
  json["scalars"] = Json{{"eps", {{"dtype", "f32"}, {"value", 1e-5}}}, {"count", {{"dtype", "i64"}, {"value", 7}}}};
  const Problem problem = parse_problem(json.dump(), "p.json");
  ASSERT_EQ(problem.scalars.size(), 2u);
  EXPECT_EQ(problem.scalars[0].name, "count");  // in order of name
  ASSERT_NE(problem.find_scalar("eps"), nullptr);
  EXPECT_EQ(*problem.find_scalar("eps"), core::Scalar(1e-5f));
  EXPECT_EQ(problem.find_scalar("x"), nullptr);
  EXPECT_TRUE(parse_problem(kProblem, "p.json").scalars.empty());
}

TEST(ProblemRefusals, Scalars) {
  const auto with = [](const Json& scalar) { return refusal_with("/scalars/eps", scalar); };
  EXPECT_THAT(with({{"dtype", "f16"}, {"value", 1}}),
              HasSubstr("p.json#/scalars/eps/dtype: \"f16\" is not one of the dtypes of scalars"));
  EXPECT_THAT(with({{"dtype", "i32"}, {"value", 0.5}}), HasSubstr("p.json#/scalars/eps/value: must be an integer"));
  EXPECT_THAT(with({{"dtype", "f32"}}), HasSubstr("field \"value\" is missing"));
  EXPECT_EQ(refusal_with("/scalars/x", {{"dtype", "f32"}, {"value", 1}}),
            "p.json#/scalars/x: there is already an input \"x\"\n"
            "  rename one of them: launch plans use these names side by side");
  EXPECT_THAT(refusal_with("/cost/flops", "M * eps"), HasSubstr("\"eps\" is no axis"));
}

TEST(Problem, AnAxisMayListItsValues) {
  Json json = Json::parse(kProblem);
  json["axes"]["N"] = {{"description", "columns"}, {"values", {8, 64, 1024}}};
  const Problem problem = parse_problem(json.dump(), "p.json");
  const Axis& axis = problem.axes[1];
  EXPECT_EQ(axis.min, 8);
  EXPECT_EQ(axis.max, 1024);
  EXPECT_TRUE(axis.contains(64));
  EXPECT_FALSE(axis.contains(65));
  EXPECT_FALSE(axis.contains(128));
  EXPECT_EQ(axis.at_most(63), 8);
  EXPECT_EQ(axis.at_most(64), 64);
  EXPECT_EQ(axis.at_most(4096), 1024);
  EXPECT_EQ(axis.at_most(1), 8);
  EXPECT_EQ(axis.domain(), "8, 64 or 1024");
  const Axis range = parse_problem(kProblem, "p.json").axes[1];  // 4 to 1024 in fours
  EXPECT_EQ(range.at_most(63), 60);
  EXPECT_EQ(range.at_most(1), 4);
  EXPECT_EQ(range.domain(), "4 to 1024, a multiple of 4");
}

TEST(ProblemRefusals, ListsOfValues) {
  const auto with = [](const Json& values) {
    return refusal_with("/axes/N", {{"description", "columns"}, {"values", values}});
  };
  EXPECT_EQ(with({64, 64, 1024}),
            "p.json#/axes/N/values/1: does not ascend\n  list the values from the least to the greatest, each once");
  EXPECT_THAT(with(Json::array()), HasSubstr("p.json#/axes/N/values: has 0 values\n  give between 1 and 64"));
  EXPECT_THAT(with({0, 8}), HasSubstr("p.json#/axes/N/values/0: must be between 1 and"));
  EXPECT_EQ(with({8, 1024}),
            "p.json#/workloads/2/axes/N: N is 64, outside its domain\n  take 8 or 1024, or add it to the axis's "
            "\"values\"");
  EXPECT_EQ(refusal_with("/axes/N/values", {8, 64, 1024}),
            "p.json#/axes/N/min: stands beside \"values\"\n  keep one: a list, or a range");
  // The ends of the domain are the first and the last value.
  Json json = Json::parse(kProblem);
  json["axes"]["N"] = {{"description", "columns"}, {"values", {8, 64, 1024}}};
  json["cost"]["flops"] = "M * (N / 1024 - 1) + 1";
  EXPECT_THAT(problem_refusal(json), HasSubstr("p.json#/cost/flops: is -2 (workload small"));
}

TEST(ProblemRefusals, MoreThan64Tensors) {
  Json json = Json::parse(kProblem);
  for (int i = 0; i < 59; ++i) json["inputs"]["x" + std::to_string(i)] = json["inputs"]["x"];
  EXPECT_EQ(problem_refusal(json), "accepted");
  json["inputs"]["one_more"] = json["inputs"]["x"];
  EXPECT_EQ(problem_refusal(json),
            "p.json#/inputs: has 63 tensors beside 2 outputs\n  a problem has at most 64 tensors: join some of them");
}

TEST(ProblemRefusals, BoolsThatAreNotOnly0And1) {
  Json json = Json::parse(kProblem);
  json["inputs"]["i"]["dtype"] = "bool";
  json["inputs"]["i"]["init"]["high"] = 1;
  json["outputs"]["s"]["dtype"] = "bool";
  EXPECT_EQ(problem_refusal(json), "accepted");
  EXPECT_EQ(parse_problem(json.dump(), "p.json").find_tensor("i")->bytes({{"M", 5}, {"N", 4}}), 5);
  json["inputs"]["i"]["init"]["high"] = 2;
  EXPECT_THAT(problem_refusal(json), HasSubstr("stay between 0 and 1"));
  json["inputs"]["i"]["init"] = {{"kind", "normal"}, {"scale", 1}};
  EXPECT_EQ(problem_refusal(json),
            "p.json#/inputs/i/init/kind: \"normal\" does not fit dtype bool\n"
            "  use {\"kind\": \"integers\", \"low\": 0, \"high\": 1}");
  EXPECT_THAT(refusal_with("/contract/accumulate", "bool"), HasSubstr("is bool, which holds no sums"));
  json = Json::parse(kProblem);
  json["outputs"]["s"] = {{"dtype", "bool"}, {"shape", {"M"}}, {"compare", "quanta"}};
  EXPECT_THAT(problem_refusal(json), HasSubstr("does not fit dtype bool"));
}

}  // namespace
}  // namespace benchsuite
