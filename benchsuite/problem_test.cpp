#include "benchsuite/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "benchsuite/problem_fixture.h"
#include "core/suggest.h"

namespace benchsuite {
namespace {
using namespace test;
using testing::HasSubstr;

std::string refusal_without(const std::string& pointer) {
  Json json = Json::parse(kProblem);
  const Json::json_pointer at(pointer);
  json[at.parent_pointer()].erase(at.back());
  return problem_refusal(json);
}

TEST(Problem, ReadsEveryField) {
  const Problem problem = parse_problem(kProblem, "p.json");
  EXPECT_EQ(problem.name, "scale");
  EXPECT_THAT(problem.axis_names(), testing::ElementsAre("M", "N"));
  EXPECT_EQ(problem.axes[1].multiple_of, 4);
  ASSERT_EQ(problem.inputs.size(), 3u);
  EXPECT_EQ(problem.inputs[0].name, "i");  // in order of name
  EXPECT_EQ(problem.inputs[0].init.kind, Init::integers);
  EXPECT_EQ(problem.inputs[0].init.most.eval({{"N", 8}}), 7);
  EXPECT_EQ(problem.inputs[1].init.low, -1);
  EXPECT_EQ(problem.find_tensor("s")->elements({{"M", 5}, {"N", 4}}), 10);
  EXPECT_EQ(problem.find_tensor("w")->bytes({{"M", 5}, {"N", 4}}), 8);
  EXPECT_EQ(problem.find_tensor("z"), nullptr);
  EXPECT_TRUE(problem.contract.nan);
  EXPECT_FALSE(problem.contract.tf32);
  EXPECT_EQ(problem.cost.flops.eval({{"M", 3}, {"N", 8}}), 24);
  EXPECT_EQ(problem.workloads[0].role, Role::test);
  EXPECT_TRUE(problem.workloads[0].runs_on("hip"));
  EXPECT_FALSE(problem.workloads[2].runs_on("cuda"));
  EXPECT_EQ(problem.json_text, kProblem);
}

TEST(Problem, HasTheKindThatItNamesElseOneByStructure) {
  const auto kind_with = [](const Json& changes) {
    Json json = Json::parse(kProblem);
    json.merge_patch(changes);
    return name_of(parse_problem(json.dump(), "p.json").kind);
  };
  EXPECT_EQ(kind_with({{"kind", "scan"}}), "scan");
  const auto output = [](const Json& shape) {
    return Json{{"outputs", {{"s", nullptr}, {"y", {{"dtype", "f32"}, {"shape", shape}}}}}};
  };
  EXPECT_EQ(kind_with(output({"M", "N"})), "elementwise");
  EXPECT_EQ(kind_with(output({"N", "M"})), "transpose");
  EXPECT_EQ(kind_with(output({1})), "reduction");
  Json norm = output({"M", "N"});
  norm["contract"]["sums"] = "N";
  EXPECT_EQ(kind_with(norm), "row_reduction");
  Json product = output({"M", "N"});
  product["inputs"]["w"]["shape"] = {"N", "M"};
  EXPECT_EQ(kind_with(product), "gemm");
}

TEST(Problem, AWorkloadWeighs1UnlessItSaysSo) {
  Json json = Json::parse(kProblem);
  json["workloads"][1]["weight"] = 2.5;
  const Problem problem = parse_problem(json.dump(), "p.json");
  EXPECT_EQ(problem.workloads[1].weight, 2.5);
  EXPECT_EQ(problem.workloads[2].weight, 1);
}

TEST(ProblemRefusals, Weights) {
  for (const Json& wrong : {Json(0), Json(-1), Json(1e300)}) {
    EXPECT_EQ(refusal_with("/workloads/1/weight", wrong),
              "p.json#/workloads/1/weight: is " + wrong.dump() +
                  "\n  take a number above 0 (1e-6 to 1e9): how often the shape occurs");
  }
  EXPECT_THAT(refusal_with("/workloads/1/weight", "often"), HasSubstr("p.json#/workloads/1/weight: "));
  EXPECT_EQ(refusal_with("/workloads/0/weight", 2),
            "p.json#/workloads/0/weight: belongs to a workload that is not timed\n"
            "  only bench workloads have a weight");
}

TEST(ProblemRefusals, AnUnknownKind) {
  EXPECT_EQ(refusal_with("/kind", "rowwise"),
            "p.json#/kind: \"rowwise\" is not one of the kinds\n"
            "  known kinds: elementwise, row_reduction, reduction, transpose, gemm, histogram, scan, attention");
}

TEST(ProblemRefusals, UnknownAndMissingFields) {
  EXPECT_EQ(refusal_with("/inputs/x/dtyp", "f32"),
            "p.json#/inputs/x/dtyp: unknown field \"dtyp\"\n  did you mean \"dtype\"?");
  EXPECT_EQ(refusal_with("/contract/tf_32", true),
            "p.json#/contract/tf_32: unknown field \"tf_32\"\n  did you mean \"tf32\"?");
  EXPECT_EQ(refusal_without("/cost/flops"),
            "p.json#/cost: field \"flops\" is missing\n  add it; docs/problem-format.md and docs/solution-format.md "
            "show the formats");
  EXPECT_THAT(refusal_with("/outputs/y/init", Json{{"kind", "normal"}}), HasSubstr("p.json#/outputs/y/init: unknown"));
}

TEST(ProblemRefusals, Shapes) {
  EXPECT_EQ(refusal_with("/inputs/x/shape/1", "NN"),
            "p.json#/inputs/x/shape/1: \"NN\" is no axis\n  did you mean \"N\"?");
  EXPECT_EQ(refusal_with("/outputs/y/shape/0", "M - 1"),
            "p.json#/outputs/y/shape/0: is 0 (end of the axis domains, M=1 N=4)\n"
            "  every dimension must be at least 1");
  EXPECT_EQ(refusal_with("/outputs/y/shape", Json::array()),
            "p.json#/outputs/y/shape: has 0 dimensions\n  give between 1 and 8");
  EXPECT_THAT(refusal_with("/outputs/y/shape/0", "M +"), HasSubstr("p.json#/outputs/y/shape/0: expected a number"));
}

TEST(ProblemRefusals, Dtypes) {
  EXPECT_EQ(refusal_with("/inputs/x/dtype", "f31"),
            "p.json#/inputs/x/dtype: \"f31\" is not one of the dtypes\n  did you mean \"f32\"?");
  EXPECT_EQ(refusal_with("/contract/accumulate", "f3"),
            "p.json#/contract/accumulate: \"f3\" is not one of the dtypes\n  did you mean \"f32\"?");
}

TEST(ProblemRefusals, ExpressionsThatOverflowOrDivideByZero) {
  EXPECT_EQ(refusal_with("/cost/flops", "M / (N - 8)"),
            "p.json#/cost/flops: division by zero in \"M / (N - 8)\" (workload small, M=3 N=8)\n"
            "  narrow the axis domains, or fix the expression");
  EXPECT_EQ(refusal_with("/cost/bytes_read", "9223372036854775807 * M"),
            "p.json#/cost/bytes_read: '*' overflows 64 bits in \"9223372036854775807 * M\" (workload small, M=3 N=8)\n"
            "  narrow the axis domains, or fix the expression");
  // Only the far end of the domains overflows: no workload does.
  EXPECT_EQ(refusal_with("/inputs/x/shape", {"M", "N", "1099511627776 * (N / 1024) + 1", "M"}),
            "p.json#/inputs/x/shape: the number of elements overflows 64 bits (workload gpu, M=4096 N=1024)\n"
            "  narrow the axis domains, or fix the expression");
  EXPECT_EQ(refusal_with("/cost/bytes_written", "4096 - M"),
            "p.json#/cost/bytes_written: is 0 (workload gpu, M=4096 N=1024)\n  it must be at least 1");
  EXPECT_EQ(refusal_with("/cost/flops", "M / (M - 1)"),
            "p.json#/cost/flops: division by zero in \"M / (M - 1)\" (end of the axis domains, M=1 N=4)\n"
            "  narrow the axis domains, or fix the expression");
  EXPECT_EQ(refusal_with("/contract/sums", "N - 4"),
            "p.json#/contract/sums: is 0 (end of the axis domains, M=1 N=4)\n  it must be at least 1");
  EXPECT_EQ(refusal_with("/cost/flops", "M * O"),
            "p.json#/cost/flops: \"O\" is no axis\n  " + core::did_you_mean("O", {"M", "N"}, "axes"));
}

TEST(ProblemRefusals, Axes) {
  EXPECT_EQ(refusal_with("/axes/N/min", 6), "p.json#/axes/N/min: is 6, not a multiple of 4\n  take 4 or 8");
  EXPECT_EQ(refusal_with("/axes/N/min", 2), "p.json#/axes/N/min: is 2, not a multiple of 4\n  take 4");
  EXPECT_EQ(refusal_with("/axes/M/min", 5000), "p.json#/axes/M/min: is above max\n  swap them");
  EXPECT_THAT(refusal_with("/axes/M/max", int64_t{1} << 40), HasSubstr("p.json#/axes/M/max: must be between 1 and"));
  EXPECT_THAT(refusal_with("/axes/M/min", 0), HasSubstr("p.json#/axes/M/min: must be between 1 and"));
  EXPECT_EQ(refusal_with("/axes/2x", Json::parse(R"({"description": "d", "min": 1, "max": 2})")),
            "p.json#/axes/2x: \"2x\" is not a name\n"
            "  use letters, digits and '_', at most 64, not starting with a digit");
  EXPECT_EQ(refusal_with("/axes/max", Json::parse(R"({"description": "d", "min": 1, "max": 2})")),
            "p.json#/axes/max: \"max\" is a function of expressions\n  take another name");
}

TEST(ProblemRefusals, NamesThatCollide) {
  const Json tensor = Json::parse(R"({"dtype": "f32", "shape": ["M"]})");
  EXPECT_EQ(refusal_with("/outputs/M", tensor),
            "p.json#/outputs/M: there is already an axis \"M\"\n"
            "  rename one of them: launch plans use these names side by side");
  EXPECT_EQ(refusal_with("/outputs/x", tensor),
            "p.json#/outputs/x: there is already an input \"x\"\n"
            "  rename one of them: launch plans use these names side by side");
}

TEST(ProblemRefusals, InitThatDoesNotFit) {
  EXPECT_EQ(refusal_with("/inputs/x/dtype", "i32"),
            "p.json#/inputs/x/init/kind: \"normal\" does not fit dtype i32\n"
            "  use {\"kind\": \"integers\", \"low\": 0, \"high\": 9}");
  EXPECT_EQ(refusal_with("/inputs/i/dtype", "u8"),
            "p.json#/inputs/i/init/high: is 1023 (workload gpu, M=4096 N=1024), which u8 cannot hold exactly\n"
            "  stay between 0 and 255");
  EXPECT_EQ(refusal_with("/inputs/i/init/low", 8),
            "p.json#/inputs/i/init: low is 8 and high is 7 (workload small, M=3 N=8)\n"
            "  low must not be above high; both are inclusive");
  EXPECT_EQ(refusal_with("/inputs/i/init/high", "K - 1"),
            "p.json#/inputs/i/init/high: \"K\" is no axis\n  " + core::did_you_mean("K", {"M", "N"}, "axes"));
  EXPECT_EQ(refusal_with("/inputs/x/init/kind", "norml"),
            "p.json#/inputs/x/init/kind: \"norml\" is not one of the kinds\n  did you mean \"normal\"?");
  EXPECT_EQ(refusal_with("/inputs/x/init/scale", 0),
            "p.json#/inputs/x/init/scale: is 0\n  take a number above 0 and at most 10000");
  EXPECT_EQ(refusal_with("/inputs/x/init/low", 0),
            "p.json#/inputs/x/init/low: unknown field \"low\"\n  " +
                core::did_you_mean("low", {"kind", "scale", "largest"}, "fields"));
  EXPECT_EQ(refusal_with("/inputs/w/init/high", -1),
            "p.json#/inputs/w/init: low is not below high\n  numbers are drawn from [low, high)");
}

TEST(ProblemRefusals, Workloads) {
  EXPECT_EQ(refusal_with("/workloads/0/axes/MM", 3),
            "p.json#/workloads/0/axes/MM: \"MM\" is no axis\n  did you mean \"M\"?");
  EXPECT_EQ(refusal_without("/workloads/2/axes/N"),
            "p.json#/workloads/2/axes: axis \"N\" is left out\n  bind every axis of the problem");
  EXPECT_EQ(refusal_with("/workloads/2/axes/N", 6),
            "p.json#/workloads/2/axes/N: N is 6, outside its domain\n"
            "  take a multiple of 4 from 4 to 1024, or widen the domain");
  EXPECT_EQ(refusal_with("/workloads/2/axes/M", 5000),
            "p.json#/workloads/2/axes/M: M is 5000, outside its domain\n"
            "  take a multiple of 1 from 1 to 4096, or widen the domain");
  EXPECT_EQ(refusal_with("/workloads/2/name", "small"),
            "p.json#/workloads/2/name: there is already a workload \"small\"\n  give each its own name");
  EXPECT_EQ(refusal_with("/workloads/2/name", "a b"),
            "p.json#/workloads/2/name: \"a b\" is not a valid workload name\n"
            "  use letters, digits, '_', '-' and '.', at most 64");
  EXPECT_EQ(refusal_with("/workloads/2/role", "tests"),
            "p.json#/workloads/2/role: \"tests\" is not one of the roles\n  did you mean \"test\"?");
  EXPECT_EQ(refusal_with("/workloads/2/devices/0", "cpus"),
            "p.json#/workloads/2/devices/0: \"cpus\" is not one of the backends\n  did you mean \"cpu\"?");
  EXPECT_EQ(refusal_with("/workloads/2/devices", Json::array()),
            "p.json#/workloads/2/devices: is empty\n  leave \"devices\" out to mean all");
}

TEST(ProblemRefusals, ABackendWithoutWorkloads) {
  EXPECT_EQ(refusal_with("/workloads/2/devices/0", "hip"),
            "p.json#/workloads: no bench workload is for \"cpu\"\n"
            "  add one with \"role\": \"bench\" and \"devices\": [\"cpu\"], or without \"devices\" to mean all");
  EXPECT_EQ(refusal_with("/workloads/0/role", "bench"),
            "p.json#/workloads: no test workload is for \"cpu\"\n"
            "  add one with \"role\": \"test\" and \"devices\": [\"cpu\"], or without \"devices\" to mean all");
}

// kProblem with "y" as values and "s" as their places in "x".
Json with_places() {
  Json json = Json::parse(kProblem);
  json["outputs"]["y"]["shape"] = {"M", 2};
  json["outputs"]["s"] = {{"dtype", "i32"}, {"shape", {"M", 2}}, {"compare", {{"indices_into", "x"}, {"values", "y"}}}};
  return json;
}

TEST(Problem, OutputsSayHowTheyAreCompared) {
  const Problem problem = parse_problem(with_places().dump(), "p.json");
  const OutputComparison& places = problem.find_tensor("s")->comparison;
  EXPECT_EQ(places.rule, OutputRule::indices);
  EXPECT_EQ(places.into, "x");
  EXPECT_EQ(places.values, "y");
  EXPECT_FALSE(places.in_any_order);
  EXPECT_EQ(problem.find_tensor("y")->comparison.rule, OutputRule::elements);
}

TEST(ProblemRefusals, Comparisons) {
  EXPECT_THAT(refusal_with("/outputs/y/compare", "any-order"), HasSubstr("did you mean \"any_order\"?"));
  EXPECT_THAT(refusal_with("/outputs/y/compare", "quanta"), HasSubstr("does not fit dtype f32"));
  EXPECT_THAT(refusal_with("/outputs/y/compare", "between"), HasSubstr("use i64"));
  EXPECT_THAT(refusal_with("/outputs/s/compare", "indices"), HasSubstr("name the input"));
  EXPECT_THAT(refusal_with("/inputs/x/compare", "equal"), HasSubstr("compare"));
  const auto refusal = [](const char* pointer, const Json& value) {
    Json json = with_places();
    json[Json::json_pointer(pointer)] = value;
    return problem_refusal(json);
  };
  EXPECT_THAT(refusal("/outputs/s/compare/indices_into", "X"), HasSubstr("\"X\" is no input"));
  EXPECT_THAT(refusal("/outputs/s/compare/indices_into", "w"), HasSubstr("the shape of \"w\" does not fit"));
  EXPECT_THAT(refusal("/outputs/s/compare/values", "z"), HasSubstr("\"z\" is no output"));
  EXPECT_THAT(refusal("/outputs/y/shape", {"M", 3}), HasSubstr("another shape"));
  EXPECT_THAT(refusal("/outputs/y/compare", "any_order"), HasSubstr("do not agree about their order"));
}

TEST(ProblemRefusals, APromiseAboutTheLargestElement) {
  EXPECT_EQ(refusal_with("/inputs/x/init/largest", 1e18), "accepted");
  EXPECT_THAT(refusal_with("/inputs/x/init/largest", 1e3), HasSubstr("from 1e16 to 1e38"));
  EXPECT_THAT(refusal_with("/inputs/w/init", {{"kind", "normal"}, {"scale", 1}, {"largest", 1e18}}),
              HasSubstr("does not fit dtype f16"));
}

TEST(ProblemRefusals, MoreThan8BitsHold) {
  const auto refusal = [](const char* dtype, const Json& init) {
    return refusal_with("/inputs/w", {{"dtype", dtype}, {"shape", {"N"}}, {"init", init}});
  };
  const auto normal = [](double scale) { return Json{{"kind", "normal"}, {"scale", scale}}; };
  const auto between = [](const char* kind, double low, double high) {
    return Json{{"kind", kind}, {"low", low}, {"high", high}};
  };
  EXPECT_EQ(refusal("f8e4m3", normal(64)), "accepted");
  EXPECT_THAT(refusal("f8e4m3", normal(65)), HasSubstr("at most 64"));
  EXPECT_THAT(refusal("f8e5m2", normal(8193)), HasSubstr("at most 8192"));
  EXPECT_EQ(refusal("f8e4m3", between("uniform", -448, 448)), "accepted");
  EXPECT_THAT(refusal("f8e4m3", between("uniform", 0, 449)), HasSubstr("within 448 of zero"));
  const Json integers = {{"kind", "integers"}, {"low", -16}, {"high", 16}};
  EXPECT_EQ(refusal("f8e4m3", integers), "accepted");
  EXPECT_THAT(refusal("f8e5m2", integers), HasSubstr("f8e5m2 cannot hold exactly"));
  EXPECT_THAT(refusal("f8e4m3", {{"kind", "normal"}, {"scale", 1}, {"largest", 1e18}}),
              HasSubstr("does not fit dtype f8e4m3\n  its numbers end at 448"));
}

TEST(ProblemRefusals, InputsWithAStructure) {
  EXPECT_EQ(refusal_with("/inputs/i/init", {{"kind", "permutation"}}), "accepted");
  EXPECT_EQ(refusal_with("/inputs/i/init", {{"kind", "sorted"}, {"low", 0}, {"high", "M"}}), "accepted");
  EXPECT_EQ(refusal_with("/inputs/w/init", {{"kind", "probabilities"}}), "accepted");
  EXPECT_EQ(refusal_with("/inputs/x/init", {{"kind", "triangular"}, {"scale", 1}}), "accepted");
  EXPECT_THAT(refusal_with("/inputs/i/init", {{"kind", "probabilities"}}), HasSubstr("does not fit dtype i32"));
  EXPECT_THAT(refusal_with("/inputs/w/init", {{"kind", "triangular"}, {"scale", 1}}), HasSubstr("two dimensions"));
  EXPECT_THAT(refusal_with("/inputs/i/init", {{"kind", "sorted"}, {"low", "N"}, {"high", 0}}),
              HasSubstr("low must not be above high"));
  EXPECT_THAT(refusal_with("/inputs/i/init", {{"kind", "permutation"}, {"low", 0}}), HasSubstr("low"));
  Json bytes = Json::parse(kProblem);
  bytes["inputs"]["i"] = {{"dtype", "i8"}, {"shape", {"M"}}, {"init", {{"kind", "permutation"}}}};
  EXPECT_THAT(problem_refusal(bytes), HasSubstr("i8 cannot hold exactly"));
}

TEST(ProblemRefusals, Texts) {
  EXPECT_EQ(refusal_with("/title", ""), "p.json#/title: is empty\n  use a few words");
  EXPECT_EQ(refusal_with("/description", "a\nb"),
            "p.json#/description: is not one line of at most 2000 characters\n"
            "  remove line breaks and control characters");
  EXPECT_THAT(refusal_with("/name", "a-b"), HasSubstr("p.json#/name: \"a-b\" is not a name\n  use letters"));
}

}  // namespace
}  // namespace benchsuite
