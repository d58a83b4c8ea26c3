// The tools on the cpu device.
#include "agent/mcp/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/campaign/program_fixture.h"
#include "agent/mcp/figures.h"
#include "agent/mcp/schema.h"
#include "core/error.h"
#include "core/text.h"

namespace agent::mcp {
namespace {
using core::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kScale = R"kernel(/* kernelwright
{
  "problem": "gelu_f32",
  "tunables": {"BLOCK": [256, 64]},
  "launches": [{"kernel": "gelu", "grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"], "args": ["x", "y", "N"]}]
}
*/
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678118f));
}
)kernel";

// Remembers what it is told; cancels itself when asked to.
class TestCall : public Call {
 public:
  const std::string& client() const override { return client_; }
  void poll() override {
    if (cancels) throw Cancelled();
  }
  void progress(double done, double, const std::string& message) override { told.emplace_back(done, message); }

  bool cancels = false;
  std::vector<std::pair<double, std::string>> told;

 private:
  std::string client_ = "tester";
};

class McpTools : public testing::Test {
 protected:
  explicit McpTools(search::BudgetLeft budget = {20, 600})
      : workspace_(campaign::load_shipped_data(0),
                   {home_.archive(), campaign::parse_device("cpu"), false, budget, home_.folder() / "imports"},
                   [](const std::string& line) { ADD_FAILURE() << line; }),
        offer_(offer_of(workspace_)) {}

  const Tool& tool(const std::string& name) const {
    for (const Tool& one : offer_.tools) {
      if (one.name == name) return one;
    }
    throw std::runtime_error("no tool " + name);
  }

  // Its arguments and its result fit its schemas.
  Json run(const std::string& name, const Json& arguments) {
    require_fits(arguments, tool(name).input, "arguments");
    const ToolResult result = tool(name).run(arguments, call_);
    require_fits(result.structured, tool(name).output, "result");
    return result.structured;
  }
  std::string error_of(const std::string& name, const Json& arguments) {
    try {
      run(name, arguments);
    } catch (const core::InputError& error) {
      return error.what();
    }
    return "";
  }

  campaign::test::Home home_;
  Workspace workspace_;
  Offer offer_;
  TestCall call_;
};

class McpBudget : public McpTools {
 protected:
  McpBudget() : McpTools({1, 600}) {}
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(McpFigures, HaveFiveDigits) {
  const Json json{{"a", {1.5505953147620068, -0.000123456789, 0.0, 100000.4}}, {"b", 123456789}};
  EXPECT_EQ(with_short_figures(json).dump(), R"({"a":[1.5506,-0.00012346,0.0,100000.0],"b":123456789})");
}

TEST_F(McpTools, AreAllThere) {
  std::vector<std::string> names;
  for (const Tool& one : offer_.tools) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("problems", "problem", "import_problem", "check", "judge", "profile", "best",
                                 "solution", "similar", "prompt"));
}

TEST_F(McpTools, ProblemsAreFoundAndShown) {
  const Json found = run("problems", {{"search", "GELU_f32"}}).at("problems");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at(0).at("name"), "gelu_f32");
  const Json problem = run("problem", {{"name", "gelu_f32"}});
  EXPECT_TRUE(problem.at("files").contains("naive.cu"));
  EXPECT_THAT(problem.at("first_kernel"), HasSubstr("extern \"C\" __global__ void first"));
  EXPECT_THAT(error_of("problem", {{"name", "gelu_f23"}}),
              HasSubstr("did you mean \"gelu_f32\"? the tool problems lists"));
}

TEST_F(McpTools, AKernelIsCheckedJudgedAndFoundAgain) {
  EXPECT_EQ(run("check", {{"source", kScale}}).at("tunables").at("BLOCK"), 256);
  EXPECT_EQ(workspace_.budget_left().at("judgements_left"), 20) << "checking is free";
  call_.told.clear();
  const Json judged = run("judge", {{"source", kScale}, {"set", {{"BLOCK", 64}}}, {"name", "by hand"}});
  EXPECT_EQ(judged.at("accepted"), true) << judged.dump(1);
  EXPECT_EQ(judged.at("tunables").at("BLOCK"), 64);
  EXPECT_EQ(judged.at("budget").at("judgements_left"), 19);
  const Json& time = judged.at("workloads").at(0).at("time_us");
  EXPECT_LE(time.at("low"), time.at("value"));
  EXPECT_LE(time.at("value"), time.at("high"));
  EXPECT_FALSE(judged.contains("seed"));
  EXPECT_THAT(judged.at("diagnosis"), Not(HasSubstr("tuner")));
  ASSERT_GE(call_.told.size(), 2u);
  EXPECT_THAT(call_.told.front().second, HasSubstr("full: compiling"));
  EXPECT_THAT(call_.told.back().second, HasSubstr("checking and timing"));

  const Json shown = run("solution", {{"which", std::to_string(judged.at("attempt").get<int64_t>())}});
  EXPECT_EQ(shown.at("source"), kScale);
  EXPECT_EQ(shown.at("author"), "mcp:tester");
  EXPECT_EQ(shown.at("solution"), "by hand");
  EXPECT_EQ(workspace_.archive().count("events"), 1) << "who had it judged";
  const Json listed = run("best", {{"problem", "gelu_f32"}, {"unconfirmed", true}}).at("rows");
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed.at(0).at("author"), "mcp:tester");
  const Json similar = run("similar", {{"source", std::string("\n") + kScale}}).at("rows");
  ASSERT_EQ(similar.size(), 1u);
  EXPECT_EQ(similar.at(0).at("likeness"), 1.0);
  EXPECT_EQ(similar.at(0).at("same"), true);
}

TEST_F(McpTools, AWrongKernelGetsADiagnosisAndNoSecrets) {
  const Json judged =
      run("judge", {{"source", replaced(kScale, "0.5f * x[i]", "0.51f * x[i]")}, {"effort", "confirm"}});
  EXPECT_EQ(judged.at("accepted"), false);
  EXPECT_EQ(judged.at("verdict"), "wrong_result");
  EXPECT_EQ(judged.at("confirmed"), false);
  EXPECT_FALSE(judged.contains("workloads"));
  EXPECT_EQ(judged.at("budget").at("judgements_left"), 19) << "what is wrong is not confirmed";
  const Json broken = run("judge", {{"source", replaced(kScale, "erff(", "erf_f(")}});
  EXPECT_EQ(broken.at("verdict"), "compile_error");
  EXPECT_THAT(broken.at("diagnosis"), HasSubstr("erf_f"));
}

TEST_F(McpTools, RefusalsSayWhatToDo) {
  EXPECT_THAT(error_of("judge", {{"source", "int x;"}}), HasSubstr("no kernelwright header"));
  EXPECT_THAT(error_of("judge", {{"source", replaced(kScale, "gelu_f32", "gelu_f33")}}), HasSubstr("did you mean"));
  EXPECT_THAT(error_of("judge", {{"source", kScale}, {"set", {{"BLOK", 64}}}}), HasSubstr("did you mean \"BLOCK\"?"));
  EXPECT_THAT(error_of("judge", {{"source", kScale}, {"effort", "control"}}), HasSubstr("is not one of its values"));
  EXPECT_THAT(error_of("judge", {{"source", std::string(300'000, ' ')}}), HasSubstr("more than the 262144"));
  EXPECT_THAT(error_of("check", {{"source", replaced(kScale, "\"x\", \"y\", \"N\"", "\"x\", \"y\"")}}),
              HasSubstr("gives 2 arguments, gelu takes 3"));
  EXPECT_THAT(error_of("profile", {{"source", kScale}}), HasSubstr("no profiler for cpu"));
  EXPECT_THAT(error_of("solution", {{"which", "999999"}}), HasSubstr("999999"));
  EXPECT_THAT(error_of("prompt", {{"problem", "gelu_f32"}, {"operator", "cross"}}),
              HasSubstr("needs 2 known solution"));
  EXPECT_EQ(workspace_.budget_left().at("judgements_left"), 20);
}

TEST_F(McpTools, AKernelForGpusIsExecutedWhereThereIsNone) {
  const std::string rope = core::read_file(core::installed_paths().kernels() / "rope_bf16" / "bulk_copies.cu");
  EXPECT_THAT(error_of("check", {{"source", rope}}), HasSubstr("its \"backends\" say cuda"));
  const Json right = run("check", {{"source", rope}, {"execute", true}});
  EXPECT_EQ(right.at("executed"), true) << right;
  EXPECT_FALSE(right.contains("compiled"));
  const std::string wait = "    asm volatile(\"cp.async.bulk.wait_group.read 0;\" ::: \"memory\");";
  EXPECT_THAT(error_of("check", {{"source", replaced(rope, wait, "")}, {"execute", true}}),
              HasSubstr("returns while a bulk store of its own still reads shared memory"));
}

TEST_F(McpTools, ACancelledJudgementLeavesTheDeviceUsable) {
  call_.cancels = true;
  EXPECT_THROW(run("judge", {{"source", kScale}}), Cancelled);
  call_.cancels = false;
  EXPECT_EQ(run("judge", {{"source", kScale}, {"effort", "screen"}}).at("accepted"), true);
}

TEST_F(McpTools, PromptsAndResourcesAreTexts) {
  EXPECT_THAT(run("prompt", {{"problem", "gelu_f32"}}).at("prompt"), HasSubstr("GELU"));
  EXPECT_THAT(run("prompt", {{"problem", "gelu_f32"}, {"hold_out", true}}).at("prompt"), HasSubstr("GELU"));
  for (const Resource& resource : offer_.resources) {
    EXPECT_GT(resource.read(call_).size(), 100u) << resource.uri;
    EXPECT_THAT(resource.uri, HasSubstr("kernelwright://"));
  }
}

TEST_F(McpBudget, EndsASession) {
  EXPECT_THAT(error_of("judge", {{"source", kScale}, {"effort", "confirm"}}),
              HasSubstr("takes 2 judgements, and 1 is left"));
  EXPECT_EQ(run("judge", {{"source", kScale}, {"effort", "screen"}}).at("budget").at("judgements_left"), 0);
  EXPECT_THAT(error_of("judge", {{"source", kScale}}), HasSubstr("this session's budget is spent"));
  EXPECT_THAT(error_of("import_problem", {{"source", "pass"}, {"name", "a"}}), HasSubstr("budget is spent"));
  EXPECT_EQ(run("check", {{"source", kScale}}).at("ok"), true);
}

}  // namespace
}  // namespace agent::mcp
