#include "sandbox/solution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"
#include "sandbox/wire.h"

namespace sandbox {
namespace {
using testing::HasSubstr;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string with_plan(const std::string& json, const std::string& code = "extern \"C\" __global__ void k() {}") {
  return "/* kernelwright\n" + json + "\n*/\n" + code + "\n";
}

const std::string kPlan = R"json({
  "problem": "copy", "tunables": {"BLOCK": [128, 256], "VEC": [1, 4]}, "constraints": ["BLOCK * VEC <= 512"],
  "workspace": {"partial": {"bytes": "4 * ceil_div(N, BLOCK)",
                  "zeroed" : true
}
}
, "launches" : [ {
  "kernel" : "k",
  "grid" : ["ceil_div(N, BLOCK * VEC)"],
  "block" : ["BLOCK"],
  "shared_bytes" : "4 * BLOCK",
  "args" : [ "x", "y", "partial", "N", "VEC * 2", 7 ]
} ]
})json";

benchsuite::Problem copied_problem() {
  benchsuite::Problem problem;
  problem.name = "copy";
  problem.axes = {{"N", "", 1, 1 << 20, 1}};
  problem.inputs = {{"x", core::DType::f32, {core::Expr::parse("N")}, {}}};
  problem.outputs = {{"y", core::DType::f32, {core::Expr::parse("N")}, {}}};
  problem.workloads = {{"small", benchsuite::Role::test, {{"N", 1000}}, {}}};
  return problem;
}

TEST(Solution, PlanIsParsedAndBound) {
  const Solution solution = parse_solution(with_plan(kPlan), "s.cu");
  validate_solution(solution, copied_problem());
  EXPECT_EQ(describe(default_binding(solution)), "BLOCK=128 VEC=1");
  const LaunchPlan plan = bind_plan(solution, {{"BLOCK", 256}, {"VEC", 1}}, {{"N", 1000}});
  ASSERT_EQ(plan.launches.size(), 1u);
  EXPECT_EQ(plan.launches[0].grid[0], 4);
  EXPECT_EQ(plan.launches[0].block[0], 256);
  EXPECT_EQ(plan.launches[0].shared_bytes, 1024);
  EXPECT_EQ(plan.workspaces[0].bytes, 16);
  EXPECT_TRUE(plan.workspaces[0].zeroed);
  ASSERT_EQ(plan.launches[0].args.size(), 6u);
  EXPECT_EQ(std::get<BufferArg>(plan.launches[0].args[0]).name, "x");
  EXPECT_EQ(std::get<ScalarArg>(plan.launches[0].args[3]).value, core::Scalar(int32_t{1000}));
  EXPECT_EQ(std::get<ScalarArg>(plan.launches[0].args[4]).value, core::Scalar(int32_t{2}));
}

TEST(Solution, TheHeaderAloneGivesTheSamePlan) {
  const Solution solution = parse_solution(with_plan(kPlan), "s.cu");
  const Solution again = parse_header(solution.header, "s.cu");
  EXPECT_EQ(again.launches.size(), 1u);
  EXPECT_TRUE(again.source.empty());
}

TEST(Solution, RefusalsNameTheRemedy) {
  EXPECT_THAT(refusal([] { parse_solution("", "s.cu"); }), HasSubstr("is empty"));
  EXPECT_THAT(refusal([] { parse_solution("__global__ void k() {}", "s.cu"); }),
              HasSubstr("has no kernelwright header"));
  EXPECT_THAT(refusal([] { parse_solution("/* kernelwright {}", "s.cu"); }), HasSubstr("never closed"));
  EXPECT_THAT(refusal([] { parse_solution(with_plan("{\"problm\": \"copy\"}"), "s.cu"); }),
              HasSubstr("did you mean \"problem\""));
  EXPECT_THAT(refusal([] { parse_solution(with_plan("{\n\"problem\": }"), "s.cu"); }), HasSubstr("line 3"));
  EXPECT_THAT(refusal([] { parse_solution(with_plan(kPlan, "__global__ void other() {}"), "s.cu"); }),
              HasSubstr("defines no \"k\""));
  EXPECT_THAT(refusal([] { parse_header(R"({"problem": "p", "tunables": {"block": [1]}, "launches": []})", "s.cu"); }),
              HasSubstr("cannot be a tunable"));
  EXPECT_THAT(refusal([] { parse_header(R"({"problem": "p", "tunables": {"T": [1]}, "launches": []})", "s.cu"); }),
              HasSubstr("two or more letters"));
  for (const char* taken : {"NAN", "INFINITY", "NDEBUG", "KW_EXPORT", "CUDART_PI", "FLT_MAX", "UINT_MAX"}) {
    const std::string header =
        "{\"problem\": \"p\", \"tunables\": {\"" + std::string(taken) + "\": [1]}, \"launches\": []}";
    EXPECT_THAT(refusal([&] { parse_header(header, "s.cu"); }), HasSubstr("take another name")) << taken;
  }
  EXPECT_THAT(refusal([] {
                parse_header(R"({"problem": "p", "tunables": {"AA": [4, 1]}, "constraints": ["AA < 2"],
                                 "launches": [{"kernel": "k", "grid": [1], "block": [1], "args": []}]})",
                             "s.cu");
              }),
              HasSubstr("breaks a constraint"));
  EXPECT_THAT(refusal([] {
                parse_header(R"({"problem": "p", "launches": [{"kernel": "k", "grid": [1], "block": [1], "args": [],
                                 "tensor_maps": {}}]})",
                             "s.cu");
              }),
              HasSubstr("beside \"launches\""));
}

TEST(Solution, PassesScalarsOfTheProblemByValue) {
  benchsuite::Problem problem = copied_problem();
  problem.scalars = {{"eps", 1e-5f}, {"count", int64_t{7}}};
  const auto with = [&](const std::string& args) {
    std::string plan = kPlan;
    plan.replace(plan.find("\"N\", \"VEC * 2\""), 14, args);
    return parse_solution(with_plan(plan), "s.cu");
  };
  const Solution solution = with(R"("eps", "count")");
  validate_solution(solution, problem);
  const LaunchPlan plan = bind_plan(solution, default_binding(solution), {{"N", 1000}}, &problem);
  EXPECT_EQ(std::get<ScalarArg>(plan.launches[0].args[3]).value, core::Scalar(1e-5f));
  EXPECT_EQ(std::get<ScalarArg>(plan.launches[0].args[4]).value, core::Scalar(int64_t{7}));
  const core::Json json = to_json(plan);
  const LaunchPlan again = plan_from_json(core::JsonView(json, "plan"));
  for (size_t i = 3; i < 6; ++i) {  // two scalars and a 32-bit int
    EXPECT_EQ(std::get<ScalarArg>(again.launches[0].args[i]).value,
              std::get<ScalarArg>(plan.launches[0].args[i]).value);
  }
  EXPECT_EQ(refusal([&] { validate_solution(with(R"("2 * eps")"), problem); }),
            "s.cu#/launches/0/args/3: the scalar \"eps\" stands in an expression\n"
            "  pass \"eps\" by itself, and compute with it in the kernel");
  problem.scalars = {{"partial", 1.0f}};
  EXPECT_THAT(refusal([&] { validate_solution(with("\"N\""), problem); }),
              HasSubstr("is already the name of something else"));
}

std::string validation(const std::string& from, const std::string& to) {
  std::string plan = kPlan;
  plan.replace(plan.find(from), from.size(), to);
  return refusal([&] { validate_solution(parse_solution(with_plan(plan), "s.cu"), copied_problem()); });
}

TEST(Solution, ValidationHoldsThePlanAgainstTheProblem) {
  EXPECT_EQ(validation("\"x\"", "\"x\""), "accepted");
  EXPECT_THAT(validation("\"x\"", "\"xx\""), HasSubstr("s.cu#/launches/0/args/0: argument \"xx\""));
  EXPECT_THAT(validation("\"y\", ", ""), HasSubstr("no launch takes the output \"y\""));
  EXPECT_THAT(validation("ceil_div(N, BLOCK * VEC)", "ceil_div(K, BLOCK)"), HasSubstr("neither an axis nor a tunable"));
  EXPECT_THAT(validation("ceil_div(N, BLOCK * VEC)", "N - 1000"), HasSubstr("grid.x is 0"));
  EXPECT_THAT(validation("\"BLOCK\"]", "\"BLOCK * 16\"]"), HasSubstr("block.x is 2048"));
  EXPECT_THAT(validation("ceil_div(N, BLOCK * VEC)", "N / (BLOCK - 128)"), HasSubstr("division by zero"));
  EXPECT_THAT(validation("4 * ceil_div(N, BLOCK)", "107374182400"), HasSubstr("must be between 1 and 4294967296"));
  EXPECT_THAT(validation("\"partial\":", "\"x\":"), HasSubstr("is already the name of something else"));
}

TEST(Solution, SharedHeadersArePartOfItAndOfItsHash) {
  const std::string header =
      "/* kernelwright\n{\"problem\": \"p\", \"launches\": [{\"kernel\": \"k\", \"grid\": [1], \"block\": [1], "
      "\"args\": []}]}\n*/\n";
  const std::string kernel = "extern \"C\" __global__ void k() {}\n";
  const Solution with = parse_solution(header + "#include <kw/tma.cuh>\n" + kernel, "k.cu"),
                 without = parse_solution(header + kernel, "k.cu");
  EXPECT_THAT(with.source, HasSubstr("// begin <kw/tma.cuh>"));
  EXPECT_NE(with.hash(), without.hash());
  EXPECT_EQ(parse_solution(with.source, "again.cu").hash(), with.hash());
}

}  // namespace
}  // namespace sandbox
