// Models that do not answer, or answer nothing usable: the user learns why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using testing::HasSubstr;

std::string last_campaign(const campaign::test::Home& home) {
  const Ended ended = home.run({"--json", "query", "SELECT name FROM campaigns ORDER BY id DESC"});
  return core::Json::parse(ended.out)["rows"][0][0];
}

TEST(FailedReplies, ACampaignWithoutAnAnswerFails) {
  const campaign::test::Home home;
  const Ended ended = home.run({"run", "gelu_f32", "--own-only", "--proposer", "exec:false", "--attempts", "4"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("requests to models was answered: exec:false ended with exit code 1"));
  EXPECT_THAT(home.run({"show", last_campaign(home)}).out, HasSubstr("unanswered: exec:false ended with exit code 1"));
}

TEST(FailedReplies, OnesWithoutASolutionSayWhy) {
  const campaign::test::Home home;
  const std::filesystem::path script = home.folder() / "model.sh";
  std::ofstream(script) << "#!/bin/sh\ncat > /dev/null\necho I would rather talk about the weather.\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const Ended ended = home.run(
      {"run", "gelu_f32", "--own-only", "--proposer", "exec:" + script.string(), "--attempts", "4", "--requests", "2"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("is unusable: the reply holds no solution"));
  EXPECT_THAT(ended.out, HasSubstr("What became of each reply: kernelwright show " + last_campaign(home)));
  EXPECT_THAT(home.run({"show", last_campaign(home)}).out,
              HasSubstr("fresh  unusable: the reply holds no solution; write one in a fenced block"));
}

}  // namespace
}  // namespace agent::cli::commands
