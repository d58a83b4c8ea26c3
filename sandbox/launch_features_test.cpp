// Clusters, cooperative launches, programmatic dependent launches and tensor maps: from the header to the wire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "sandbox/artefact.h"
#include "sandbox/solution.h"
#include "sandbox/wire.h"

namespace sandbox {
namespace {
using testing::HasSubstr;

const std::string kHeader = R"json({
  "problem": "copy", "tunables": {"CLUSTER": [2, 4, 32]},
  "workspace": {"partial": {"bytes": 4096, "zeroed": true}},
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [64], "swizzle": 0},
    "y_map": {"tensor": "y", "box": [64]},
    "part_map": {"tensor": "partial", "dtype": "f16", "shape": [64, 32], "box": [64, 8], "swizzle": 128, "fill": "nan"}
  },
  "launches": [
    {"kernel": "first", "grid": [8], "block": [128], "cluster": ["CLUSTER"], "args": ["x_map", "part_map", "N"]},
    {"kernel": "second", "grid": [4], "block": [128], "cooperative": true, "overlaps_previous": true,
     "args": ["partial", "y_map"]}
  ]
})json";

benchsuite::Problem copy_problem() {
  benchsuite::Problem problem;
  problem.name = "copy";
  problem.axes = {{"N", "", 1, 1 << 20, 1}};
  problem.inputs = {{"x", core::DType::f32, {core::Expr::parse("N")}, {}}};
  problem.outputs = {{"y", core::DType::f32, {core::Expr::parse("N")}, {}}};
  problem.workloads = {{"small", benchsuite::Role::test, {{"N", 1000}}, {}}};
  return problem;
}

// The solution with text of its header replaced.
Solution changed(const std::string& from, const std::string& to) {
  std::string header = kHeader;
  header.replace(header.find(from), from.size(), to);
  return parse_header(header, "s.cu");
}

std::string refusal(const std::string& from, const std::string& to) {
  try {
    validate_solution(changed(from, to), copy_problem());
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "accepted";
}

LaunchPlan plan_of(const Solution& solution) {
  const benchsuite::Problem problem = copy_problem();
  return bind_plan(solution, default_binding(solution), {{"N", 1000}}, &problem);
}

TEST(LaunchFeatures, AreBound) {
  const Solution solution = parse_header(kHeader, "s.cu");
  validate_solution(solution, copy_problem());
  const LaunchPlan plan = plan_of(solution);
  EXPECT_TRUE(plan.launches[0].clustered());
  EXPECT_EQ(plan.launches[0].cluster[0], 2);
  EXPECT_FALSE(plan.launches[0].cooperative);
  EXPECT_FALSE(plan.launches[1].clustered());
  EXPECT_TRUE(plan.launches[1].cooperative);
  EXPECT_TRUE(plan.launches[1].overlaps_previous);
  EXPECT_EQ(std::get<TensorMapArg>(plan.launches[0].args[0]).name, "x_map");
  EXPECT_EQ(std::get<ScalarArg>(plan.launches[0].args[2]).value, core::Scalar(int32_t{1000}));
  EXPECT_EQ(std::get<BufferArg>(plan.launches[1].args[0]).name, "partial");
  ASSERT_EQ(plan.tensor_maps.size(), 3u);
  EXPECT_EQ(plan.tensor_maps[0].name, "part_map");
  EXPECT_EQ(plan.tensor_maps[1].shape, std::vector<int64_t>{1000});
}

TEST(LaunchFeatures, LaunchesAreLeftOutWhereTheirConditionIsZero) {
  const auto launched_at = [](int64_t n) {
    const Solution solution = changed("\"block\": [128], \"cluster\": [\"CLUSTER\"]",
                                      "\"block\": [\"N / 500 * 128\"], \"when\": \"N >= 500\"");
    const benchsuite::Problem problem = copy_problem();
    std::string all;
    for (const PlannedLaunch& launch : bind_plan(solution, {{"CLUSTER", 2}}, {{"N", n}}, &problem).launches) {
      all += launch.kernel + std::to_string(launch.place) + (launch.overlaps_previous ? " overlaps" : "") + ";";
    }
    return all;
  };
  EXPECT_EQ(launched_at(1000), "first0;second1 overlaps;");
  EXPECT_EQ(launched_at(4), "second1;");  // its block would be empty, and nothing is there to overlap
}

TEST(LaunchFeatures, OneLaunchMustStay) {
  std::string never = kHeader;
  for (const std::string kernel : {"first", "second"}) {
    const std::string name = "\"" + kernel + "\",";
    never.replace(never.find(name), name.size(), name + " \"when\": \"N < 7\",");
  }
  try {
    validate_solution(parse_header(never, "s.cu"), copy_problem());
    ADD_FAILURE() << "accepted";
  } catch (const core::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no launch runs at this shape: each \"when\" is zero (workload small)"));
  }
  EXPECT_THAT(refusal("\"block\": [128], \"cluster\"", "\"block\": [128], \"when\": \"M > 4\", \"cluster\""),
              HasSubstr("#/launches/0/when"));
}

TEST(LaunchFeatures, AreHeldAgainstEveryDevice) {
  EXPECT_EQ(refusal("[8]", "[8]"), "accepted");
  EXPECT_THAT(refusal("\"grid\": [8]", "\"grid\": [9]"),
              HasSubstr("grid.x is 9, which is not a multiple of cluster.x, 2"));
  EXPECT_THAT(refusal("[2, 4, 32]", "[32, 2]"), HasSubstr("cluster.x is 32; it must be between 1 and 16"));
  EXPECT_THAT(refusal("[\"CLUSTER\"]", "[8, 2]"), HasSubstr("grid.y is 1, which is not a multiple"));
  EXPECT_THAT(refusal("\"grid\": [8], \"block\": [128], \"cluster\": [\"CLUSTER\"]",
                      "\"grid\": [8, 4], \"block\": [128], \"cluster\": [8, 4]"),
              HasSubstr("blocks per cluster is 32"));
  EXPECT_THAT(refusal("\"cluster\": [\"CLUSTER\"]", "\"overlaps_previous\": true"),
              HasSubstr("#/launches/0/overlaps_previous: there is no launch before the first one"));
  EXPECT_THAT(refusal("\"cooperative\": true", "\"coperative\": true"), HasSubstr("did you mean \"cooperative\""));
  EXPECT_THAT(refusal("\"cooperative\": true", "\"cooperative\": 1"), HasSubstr("/launches/1/cooperative"));
  EXPECT_THAT(refusal("\"tensor\": \"x\"", "\"tensor\": \"xx\""),
              HasSubstr("\"xx\" is neither a tensor nor a workspace"));
  EXPECT_THAT(refusal("\"x_map\": {", "\"x\": {"), HasSubstr("tensor map \"x\" is already the name of something else"));
  EXPECT_THAT(refusal("\"y_map\"]", "\"y_mat\"]"), HasSubstr("did you mean \"y_map\""));
  EXPECT_THAT(refusal("\"tensor\": \"y\"", "\"tensor\": \"x\""), HasSubstr("no launch takes the output \"y\""));
  EXPECT_THAT(refusal("\"box\": [64]", "\"box\": [\"K\"]"), HasSubstr("\"K\" is neither an axis nor a tunable"));
}

TEST(LaunchFeatures, SurviveTheWire) {
  const LaunchPlan plan = plan_of(parse_header(kHeader, "s.cu"));
  const core::Json json = to_json(plan);
  const LaunchPlan back = plan_from_json(core::JsonView(json, "plan"));
  EXPECT_EQ(to_json(back), json);
  EXPECT_TRUE(back.workspaces[0].zeroed);
  EXPECT_EQ(back.launches[0].cluster, plan.launches[0].cluster);
  EXPECT_TRUE(back.launches[1].cooperative);
  EXPECT_TRUE(back.launches[1].overlaps_previous);
  EXPECT_EQ(std::get<TensorMapArg>(back.launches[1].args[1]).name, "y_map");
  EXPECT_EQ(back.tensor_maps[0].strides_bytes, std::vector<int64_t>{128});
  EXPECT_TRUE(back.tensor_maps[0].nan_fill);

  core::Json torn = json;
  torn["tensor_maps"][0]["box"] = {8};
  EXPECT_THROW(plan_from_json(core::JsonView(torn, "plan")), core::InputError);
}

TEST(LaunchFeatures, ArePartOfTheArtefact) {
  const auto hash = [](const Solution& solution) {
    return artefact_hash(solution, default_binding(solution), {"binary"});
  };
  const std::string as_it_is = hash(parse_header(kHeader, "s.cu"));
  EXPECT_EQ(hash(changed("[2, 4, 32]", "[2, 4]")), as_it_is) << "a value that is not bound";
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"[2, 4, 32]", "[4, 2]"},
                                                        {"\"cooperative\": true", "\"cooperative\": false"},
                                                        {"\"overlaps_previous\": true", "\"overlaps_previous\": false"},
                                                        {"\"swizzle\": 128", "\"swizzle\": 32"},
                                                        {"\"fill\": \"nan\"", "\"fill\": \"zeros\""},
                                                        {"\"dtype\": \"f16\"", "\"dtype\": \"bf16\""},
                                                        {"\"box\": [64]", "\"box\": [32]"},
                                                        {"\"box\": [64]", "\"box\": [64], \"when\": \"N > 4\""},
                                                        {"\"box\": [64]", "\"box\": [64], \"l2_promotion\": 64"},
                                                        {"\"tensor\": \"x\"", "\"tensor\": \"y\""}}) {
    EXPECT_NE(hash(changed(from, to)), as_it_is) << to;
  }
}

}  // namespace
}  // namespace sandbox
