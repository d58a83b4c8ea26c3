// Campaigns with a model, with the real program: killed and resumed, replayed, and run again from their transcript.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"
#include "results/archive/archive_fixture.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::HasSubstr;

// A command that answers with a new kernel each time and logs every call.
std::string author(const Home& home) {
  const std::string log = (home.folder() / "asked").string();
  std::ofstream script(home.folder() / "author.sh");
  script << "number=$(cksum | cut -d' ' -f1)\n"
         << "echo $number >> '" << log << "'\n"
         << R"x(sed "s/NUMBER/$number/" <<'END'
```cuda
/* kernelwright
{"problem": "gelu_f32", "backends": ["cpu"], "tunables": {"BLOCK": [64, 128]}, "launches":
 [{"kernel": "gelu", "grid": ["ceil_div(N, BLOCK)", 1, 1], "block": ["BLOCK", 1, 1], "args": ["x", "y", "N"]}]}
*/
extern "C" __global__ void gelu(const float* x, float* y, int N) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < N) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f)) + 0.0f * NUMBER.0f;
}
```
END
)x";
  return "exec:sh " + (home.folder() / "author.sh").string();
}

size_t times_asked(const Home& home) {
  std::ifstream log(home.folder() / "asked");
  size_t lines = 0;
  for (std::string line; std::getline(log, line);) ++lines;
  return lines;
}

std::vector<results::archive::RequestRecord> requests(const Home& home) {
  const results::archive::Reader archive(home.archive());
  return archive.requests_of_campaign(archive.find_campaign("").id);
}

TEST(CampaignWithAModel, KilledAndResumedPaysOnceAndIsReproduced) {
  const Home home;
  const std::vector<std::string> run{
      "--json", "run",    "gelu_f32", "--proposer",       author(home), "--strategy",  "evolve", "--attempts",
      "24",     "--seed", "3",        "--model-patience", "100",        "--in-flight", "2"};
  // Kills it some time after its start, on machines of any speed.
  const auto has_begun = [&] {
    return std::filesystem::exists(home.archive()) && !results::archive::Recorder(home.archive()).campaigns().empty();
  };
  for (std::chrono::milliseconds delay(2500); !has_begun(); delay *= 2) home.run(run, SIGKILL, delay);
  for (int kill = 1; kill <= 3; ++kill) {
    const Ended ended = home.run({"--json", "resume"}, SIGKILL, std::chrono::milliseconds(700 * kill));
    ASSERT_TRUE(ended.exit_code == 0 || ended.exit_code == 1 || ended.exit_code == 128 + SIGKILL) << ended.err;
    EXPECT_THAT(ended.out, testing::Not(HasSubstr("decides differently"))) << ended.out;
  }
  const Ended last = home.run({"--json", "resume"});
  ASSERT_TRUE(last.exit_code == 0 || last.err.find("is done") != std::string::npos) << last.err;
  EXPECT_THAT(last.out, testing::Not(HasSubstr("decides differently")));

  std::map<int64_t, int> answers;
  size_t rows = 0;
  for (const results::archive::RequestRecord& record : requests(home)) {
    ++rows;
    EXPECT_EQ(answers[record.request.number], 0) << "asked again though it was answered";
    answers[record.request.number] += record.reply.has_value();
  }
  EXPECT_GT(rows, 0u);
  EXPECT_LE(times_asked(home), rows) << "each time it was asked is written down";
  const Ended replayed = home.run({"--json", "replay"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  const Json summary = Json::parse(replayed.out);
  EXPECT_TRUE(summary.at("reproduced").get<bool>());
  EXPECT_TRUE(summary.at("ended").get<bool>());
  EXPECT_EQ(summary.at("attempts"), 24);
  EXPECT_THAT(home.run({"replay"}).out, HasSubstr("Every decision was reproduced"));
}

TEST(CampaignWithAModel, IsReplayedWhenItsTimeWasUp) {
  const Home home;
  const std::string similar = (core::installed_paths().kernels() / "vector_add_f32/float4_items.cu").string();
  ASSERT_EQ(home.run({"judge", "--confirm", similar}).exit_code, 0);
  ASSERT_EQ(home.run({"run", "gelu_f32", "--proposer", author(home), "--seconds", "3", "--in-flight", "2"}).exit_code,
            0);
  EXPECT_EQ(requests(home).at(0).request.proposal.at("exemplar"), "vector_add_f32");
  const Ended replayed = home.run({"--json", "replay"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.out << replayed.err;
  EXPECT_TRUE(Json::parse(replayed.out).at("ended").get<bool>());
}

// As after a kill while the first reply was awaited.
TEST(CampaignWithAModel, IsResumedWhereItsRecordEndsWithARequest) {
  const Home home;
  ASSERT_EQ(home.run({"run", "gelu_f32", "--proposer", author(home), "--attempts", "3", "--requests", "2", "--seed",
                      "3", "--own-only", "--in-flight", "1"})
                .exit_code,
            0);
  results::archive::test::forget_after_first_request(home.archive());
  ASSERT_EQ(requests(home).size(), 1u);
  const Ended resumed = home.run({"resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(requests(home).at(1).reply) << "asked once more";
}

TEST(CampaignWithAModel, ItsTranscriptMakesTheSameProposals) {
  const Home home;
  const std::vector<std::string> rest{"--strategy", "refine", "--lines", "1", "--in-flight", "1", "--requests", "4",
                                      "--attempts", "100",    "--seed",  "4", "--own-only"};
  const auto run = [&](const std::string& proposer) {
    std::vector<std::string> args{"run", "gelu_f32", "--proposer", proposer};
    args.insert(args.end(), rest.begin(), rest.end());
    const Ended ended = home.run(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return requests(home);
  };
  const auto original = run(author(home));
  ASSERT_EQ(original.size(), 4u);
  const std::string file = (home.folder() / "transcript.jsonl").string();
  ASSERT_EQ(home.run({"transcript", "-o", file}).exit_code, 0);
  const size_t asked = times_asked(home);
  const auto again = run("replay:" + file);
  EXPECT_EQ(times_asked(home), asked);
  ASSERT_EQ(again.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(again[i].reply.value().reply, original[i].reply.value().reply);
    EXPECT_EQ(again[i].solutions, original[i].solutions) << i;
    EXPECT_EQ(again[i].solutions.size(), 1u);
  }
}

TEST(ReplayCommand, RefusesACampaignOfAnEarlierVersion) {
  const Home home;
  ASSERT_EQ(home.run({"run", "gelu_f32", "--attempts", "2"}).exit_code, 0);
  EXPECT_EQ(home.run({"replay"}).exit_code, 0) << "the tuner's decisions, too";
  results::archive::test::forget_order(home.archive());
  const Ended replayed = home.run({"replay"});
  EXPECT_EQ(replayed.exit_code, 1);
  EXPECT_THAT(replayed.out, HasSubstr("earlier version"));
}

TEST(DryRun, EstimatesWithoutAKeyAndSendsNothing) {
  const Home home;
  const Ended ended = home.run({"--json", "run", "gelu_f32", "softmax_f32", "--proposer", "anthropic:claude-opus-5",
                                "--dry-run", "--dollars", "2"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Json estimate = Json::parse(ended.out);
  ASSERT_EQ(estimate.at("problems").size(), 2u);
  for (const Json& problem : estimate.at("problems")) {
    EXPECT_GT(problem.at("prompt_tokens"), 1000);
    EXPECT_GT(problem.at("dollars").at(0), 0);
    EXPECT_LE(problem.at("dollars").at(1), 2);
  }
  const results::archive::Reader archive(home.archive());
  EXPECT_TRUE(archive.campaigns().empty());
  EXPECT_EQ(home.run({"run", "gelu_f32", "--dry-run"}).exit_code, 64) << "no model is named";
  const Ended unknown = home.run({"run", "gelu_f32", "--dry-run", "--proposer", "antropic:claude"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"anthropic\"?"));
}

}  // namespace
}  // namespace agent::cli::commands
