#include "agent/cli/running/prompt_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "agent/campaign/program_fixture.h"
#include "agent/cli/running/known_devices.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::cli::running {
namespace {
using testing::HasSubstr;

TEST(KnownDevices, AreFoundByNameAndArchitecture) {
  const core::Paths paths = core::installed_paths();
  for (const prompting::DeviceText& device : known_devices(paths)) {
    EXPECT_EQ(device.calibration->device, device.name);
    EXPECT_EQ(device.calibration->architecture, device.architecture);
  }
  for (const char* name : {"NVIDIA H200", "nvidia h200", "H200", "sm_90a", "sm_90"}) {
    const auto found = find_known_device(paths, name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->name, "NVIDIA H200");
  }
  for (const char* name : {"", "200", "NVIDIA", "cuda", "sm_9"}) EXPECT_FALSE(find_known_device(paths, name)) << name;
}

TEST(KnownDevices, GiveAPromptWithoutAGpu) {
  const campaign::test::Home home;
  const auto ended = home.run({"--json", "prompt", "softmax_f32", "--device", "NVIDIA H200"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const core::Json made = core::Json::parse(ended.out);
  EXPECT_THAT(made["prompt"].dump(), HasSubstr("NVIDIA H200, sm_90a, 132 multiprocessors"));
  int64_t tokens = 0;
  for (const core::Json& section : made["sections"]) tokens += section["tokens"].get<int64_t>();
  EXPECT_NEAR(static_cast<double>(tokens), made["tokens"].get<double>(), 10);
  EXPECT_EQ(made["sections"][2]["title"], "The problem: softmax_f32 (Softmax over rows, fp32)");
  const auto estimated =
      home.run({"run", "softmax_f32", "--dry-run", "--arch", "sm_90a", "--proposer", "anthropic:claude"});
  EXPECT_EQ(estimated.exit_code, 0) << estimated.err;
  EXPECT_THAT(estimated.out, HasSubstr("The facts of NVIDIA H200 ship with kernelwright"));
}

TEST(KnownDevices, OthersAreNamed) {
  const campaign::test::Home home;
  EXPECT_THAT(home.run({"prompt", "softmax_f32", "--device", "h300"}).err,
              HasSubstr("one of those that it knows: NVIDIA H200 (sm_90a)"));
  EXPECT_THAT(home.run({"prompt", "softmax_f32", "--arch", "sm_100"}).err,
              HasSubstr("known are: NVIDIA H200 (sm_90a)"));
  EXPECT_THAT(home.run({"run", "softmax_f32", "--arch", "sm_90a"}).err, HasSubstr("--arch: is for --dry-run"));
}

// A campaign sends these findings, too.
TEST(FirstPrompt, HasTheDiagnosisOfTheSolutionToImprove) {
  const campaign::test::Home home;
  const std::string file = (core::installed_paths().kernels() / "gelu_f32/float4_items.cu").string();
  ASSERT_EQ(home.run({"judge", "--confirm", file}).exit_code, 0);
  const auto ended = home.run({"prompt", "gelu_f32", "--operator", "improve"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("What limits it: An innermost loop calls functions"));
  EXPECT_THAT(home.run({"prompt", "gelu_f32", "--operator", "repair"}).err, HasSubstr("the archive has none"));
}

TEST(FirstPrompt, ShowsTheWinnerOfASimilarProblemUnlessItIsHeldOut) {
  const campaign::test::Home home;
  const std::string file = (core::installed_paths().kernels() / "gelu_f32/float4_items.cu").string();
  ASSERT_EQ(home.run({"judge", "--confirm", file}).exit_code, 0);
  const core::Json shown = core::Json::parse(home.run({"--json", "prompt", "vector_add_f32"}).out);
  EXPECT_EQ(shown["exemplar"], "gelu_f32");
  const auto has_section = [](const core::Json& made) {
    return std::ranges::any_of(made["sections"], [](const core::Json& section) {
      return section["title"] == "A winner of a similar problem" && section["tokens"] > 100;
    });
  };
  EXPECT_TRUE(has_section(shown));
  EXPECT_FALSE(has_section(core::Json::parse(home.run({"--json", "prompt", "vector_add_f32", "--hold-out"}).out)));
  EXPECT_THAT(home.run({"prompt", "vector_add_f32", "--context", "7500"}).out,
              HasSubstr("the winner of a similar problem, gelu_f32"));
}

TEST(FirstPrompt, TakesWhatWonNothing) {
  const campaign::test::Home home;
  std::string source = core::read_file(core::installed_paths().kernels() / "gelu_f32/float4_items.cu");
  EXPECT_THAT(home.run({"prompt", "gelu_f32", "--operator", "improve"}).err, HasSubstr("the archive has 0"));
  ASSERT_EQ(home.run({"judge", (core::installed_paths().kernels() / "gelu_f32/float4_items.cu").string()}).exit_code,
            0);
  EXPECT_THAT(home.run({"prompt", "gelu_f32", "--operator", "improve"}).out, HasSubstr("it is called s1"));
  const size_t half = source.rfind("0.5f");
  ASSERT_NE(half, std::string::npos);
  source.replace(half, 4, "0.6f");
  const std::filesystem::path wrong = home.folder() / "wrong.cu";
  std::ofstream(wrong) << source;
  ASSERT_NE(home.run({"judge", wrong.string()}).exit_code, 0);
  const auto repair = home.run({"prompt", "gelu_f32", "--operator", "repair"});
  EXPECT_EQ(repair.exit_code, 0) << repair.err;
  EXPECT_THAT(repair.out, HasSubstr("Wrong result"));
}

}  // namespace
}  // namespace agent::cli::running
