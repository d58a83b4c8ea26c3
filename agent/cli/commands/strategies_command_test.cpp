// The comparison of strategies: real campaigns with a program that stands for a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/campaign/program_fixture.h"
#include "core/paths.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::AllOf;
using testing::HasSubstr;

// Replies with a shipped solution.
std::string model_in(const Home& home) {
  const std::filesystem::path file = home.folder() / "model.sh";
  std::ofstream(file) << "#!/bin/sh\ncat > /dev/null\necho '```cuda'\ncat "
                      << (core::installed_paths().kernels() / "gelu_f32/float4_items.cu").string() << "\necho '```'\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return "exec:" + file.string();
}

TEST(StrategiesCommand, SpendsTheSameWithEachAndGoesOnWhereItStopped) {
  const Home home;
  const std::vector<std::string> command{"strategies", "gelu_f32", "--proposer", model_in(home), "--requests",
                                         "1",          "--seeds",  "1",          "--seconds",    "4",
                                         "--strategy", "tune",     "--strategy", "best_of_n"};
  const Ended first = home.run(command);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("== 1 of 2: tune, gelu_f32, seed 1"),
                               HasSubstr("== 2 of 2: best_of_n, gelu_f32, seed 1"), HasSubstr("OVER TUNED")));
  const Ended again = home.run(command);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, testing::Not(HasSubstr("== ")));
  const Ended shown = home.run({"--json", "strategies"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const Json json = Json::parse(shown.out);
  ASSERT_EQ(json["campaigns"].size(), 2u);
  ASSERT_EQ(json["strategies"].size(), 2u);
  EXPECT_EQ(json["strategies"][1]["strategy"], "best_of_n");
  EXPECT_EQ(json["strategies"][1]["correct_within"][0]["count"], 1);
  EXPECT_EQ(json["campaigns"][1]["first_correct"], 1);
}

TEST(StrategiesCommand, SaysWhatIsMissing) {
  const Home home;
  const auto refused = [&](const std::vector<std::string>& command, const std::string& why) {
    const Ended ended = home.run(command);
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_THAT(ended.err, HasSubstr(why));
  };
  refused({"strategies", "gelu_f32"}, "add --proposer MODEL");
  refused({"strategies", "--proposer", "exec:true"}, "names no problem");
  EXPECT_EQ(home.run({"run", "gelu_f32", "--attempts", "1"}).exit_code, 0);
  refused({"strategies"}, "no comparison of strategies yet");
  refused({"strategies", "--trial", "12345678"}, "has no trial \"12345678\"");
}

}  // namespace
}  // namespace agent::cli::commands
