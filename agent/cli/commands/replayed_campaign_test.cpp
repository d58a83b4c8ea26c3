// Replays a model's recorded replies on the cpu device: its solutions are compiled, judged and timed again, and
// compared with the shipped solutions at their best known points.
#include <gtest/gtest.h>

#include <map>

#include "agent/campaign/program_fixture.h"
#include "agent/models/transcript.h"
#include "core/strict_json.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using core::Json;

TEST(ReplayedCampaign, ImprovesThreeProblemsOverTheShippedSolutions) {
  const core::Paths paths = core::installed_paths();
  const std::string file = (paths.prompts() / "transcripts" / "cpu_softmax_gelu_cross_entropy.jsonl").string();
  const std::string author = models::read_transcript(file).header.model;
  const campaign::test::Home home;
  const auto judge = [&](const char* kernel, std::vector<std::string> point) {
    std::vector<std::string> args{"--json", "judge", "--confirm", (paths.kernels() / kernel).string()};
    for (std::string& tunable : point) args.insert(args.end(), {"--set", std::move(tunable)});
    const Ended judged = home.run(args);
    EXPECT_EQ(judged.exit_code, 0) << judged.err;
  };
  judge("softmax_f32/lanes_per_row.cu", {"LANES=2", "ROWS=32", "VEC=8"});
  judge("gelu_f32/float4_items.cu", {"BLOCK=64", "ITEMS=16"});
  judge("cross_entropy_f32/online_lanes.cu", {"LANES=1", "ROWS=64", "VEC=8"});

  const Ended replayed =
      home.run({"--json", "run", "softmax_f32", "gelu_f32", "cross_entropy_f32", "--proposer", "replay:" + file,
                "--strategy", "refine", "--lines", "1", "--in-flight", "1", "--attempts", "45", "--seed", "5"});
  ASSERT_EQ(replayed.exit_code, 0) << replayed.err << replayed.out;
  std::map<std::string, Json> first;
  for (const Json& row : Json::parse(home.run({"--json", "leaderboard"}).out)) {
    if (row.at("rank") == 1) first[row.at("problem").get<std::string>()] = row;
  }
  for (const char* problem : {"softmax_f32", "gelu_f32", "cross_entropy_f32"}) {
    ASSERT_EQ(first.count(problem), 1u) << problem;
    EXPECT_EQ(first[problem].at("origin"), author) << first[problem].dump();
  }
}

}  // namespace
}  // namespace agent::cli::commands
