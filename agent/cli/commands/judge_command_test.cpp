// kernelwright judge with several files, with --control and with --screen.
#include <gtest/gtest.h>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;

std::string shipped_file(const std::string& file) { return (core::installed_paths().kernels() / file).string(); }
std::string adversarial_file(const std::string& name) {
  return KW_SOURCE_FOLDER "/verifier/adversarial/" + name + ".cu";
}

std::vector<Json> lines_of(const std::string& out) {
  std::vector<Json> lines;
  for (const std::string& line : core::split(out, '\n')) {
    if (!line.empty()) lines.push_back(Json::parse(line));
  }
  return lines;
}

TEST(JudgeCommand, JudgesFilesOfSeveralProblemsInTheirOrder) {
  const Home home;
  const std::vector<std::string> files{shipped_file("gelu_f32/float4_items.cu"), adversarial_file("trap"),
                                       adversarial_file("honest_tree"), shipped_file("gelu_f32/float4_items.cu")};
  const Ended ended = home.run({"--json", "judge", "--screen", files[0], files[1], files[2], files[3]});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  const std::vector<Json> lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), files.size());
  const char* verdicts[] = {"correct", "trap", "correct", "correct"};
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(lines[i].at("file"), files[i]);
    EXPECT_EQ(lines[i].at("verdict"), verdicts[i]);
  }
  EXPECT_TRUE(home.leftover_processes().empty());
}

TEST(JudgeCommand, OneWrongFileStopsItBeforeAnythingIsJudged) {
  const Home home;
  const Ended ended = home.run({"--json", "judge", shipped_file("gelu_f32/float4_items.cu"), "nowhere.cu"});
  EXPECT_EQ(ended.exit_code, 1);
  const std::vector<Json> lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].at("error").get<std::string>().find("nowhere.cu"), std::string::npos);
}

TEST(JudgeCommand, AControlIsTimedAgainstItself) {
  const Home home;
  const Ended ended = home.run({"--json", "judge", "--control", shipped_file("gelu_f32/float4_items.cu")});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Json timed = lines_of(ended.out).at(0).at("measurement");
  // It wins clearly against naive; against itself it ties.
  EXPECT_GT(timed.at("speed_up").at(0), 0.7);
  EXPECT_LT(timed.at("speed_up").at(0), 1.4);
  EXPECT_EQ(home.run({"judge", "--control", "--confirm", shipped_file("gelu_f32/float4_items.cu")}).exit_code, 64);
}

}  // namespace
}  // namespace agent::cli::commands
