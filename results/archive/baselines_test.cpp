#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/archive/archive_fixture.h"
#include "results/archive/leaderboard.h"

namespace results::archive::test {
namespace {
using verifier::verdicts::Effort;

NewBaseline baseline_of(const Started& s, const std::string& library, verifier::verdicts::Judgement judgement) {
  return {s.problem, s.environment, "cuda GPU A", library, std::move(judgement)};
}

verifier::verdicts::Judgement wrong() {
  verifier::verdicts::Judgement judgement;
  judgement.verdict = verifier::verdicts::WrongResult{{"test_1", "N=1", "ordinary", ""}, "y", 0, 1, 2, 3.5, 1, 1};
  return judgement;
}

TEST(Baselines, ComeBackAsTheyWereWrittenTheNewestOfEach) {
  const TemporaryArchive temporary;
  {
    Started s(temporary.file());
    s.archive.add_baseline(baseline_of(s, "PyTorch 2.11 eager", correct_judgement(2)));
    s.archive.add_baseline(baseline_of(s, "cuBLAS 13.0", wrong()));
    s.archive.add_baseline(baseline_of(s, "PyTorch 2.11 eager", correct_judgement(3)));
  }
  const Recorder archive(temporary.file());
  const std::vector<BaselineRecord> all = archive.baselines("", "cuda");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].library, "cuBLAS 13.0");
  EXPECT_EQ(name_of(all[0].verdict), "wrong_result");
  EXPECT_FALSE(all[0].measurement);
  EXPECT_EQ(all[1].problem, "sum_f32");
  EXPECT_EQ(all[1].device, "cuda GPU A");
  EXPECT_THAT(all[1].made, testing::MatchesRegex("....-..-..T..:..:..Z"));
  EXPECT_EQ(to_json(all[1].measurement.value()), to_json(*correct_judgement(3).measurement));
  EXPECT_TRUE(archive.baselines("sum_f32", "cuda GPU B").empty());
  EXPECT_TRUE(archive.baselines("gelu_f32", "").empty());
}

TEST(Baselines, AreMissingForANewVersionOfLibraryOrProblem) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  s.archive.add_baseline(baseline_of(s, "cuBLAS 13.0", correct_judgement(2)));
  EXPECT_TRUE(s.archive.find_baseline(s.problem, "cuda GPU A", "cuBLAS 13.0"));
  EXPECT_FALSE(s.archive.find_baseline(s.problem, "cuda GPU A", "cuBLAS 13.1"));
  EXPECT_FALSE(s.archive.find_baseline(s.problem, "cuda GPU B", "cuBLAS 13.0"));
  benchsuite::Problem problem;
  problem.name = "sum_f32";
  problem.json_text = "{}";
  const int64_t changed = s.archive.add_problem(problem, "another hash");
  EXPECT_FALSE(s.archive.find_baseline(changed, "cuda GPU A", "cuBLAS 13.0"));
  // As soon as the new version is judged, the old one's libraries are no longer shown.
  NewBaseline newer = baseline_of(s, "cuBLAS 13.1", correct_judgement(2));
  newer.problem = changed;
  s.archive.add_baseline(newer);
  ASSERT_EQ(s.archive.baselines("", "").size(), 1u);
  EXPECT_EQ(s.archive.baselines("", "")[0].library, "cuBLAS 13.1");
}

TEST(Baselines, StandInTheLeaderboardByTimeWithoutARank) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const auto confirm = [&](const std::string& name, double speed_up) {
    NewAttempt attempt = s.attempt_at(s.add_candidate(name, "seed"), Effort::confirm, correct_judgement(speed_up));
    attempt.device = "cuda GPU A";
    s.archive.add_attempt(attempt);
  };
  confirm("slow", 2);
  confirm("fast", 6);
  s.archive.add_baseline(baseline_of(s, "broken", wrong()));
  s.archive.add_baseline(baseline_of(s, "between", correct_judgement(4)));
  s.archive.add_baseline(baseline_of(s, "fastest", correct_judgement(8)));
  const std::vector<LeaderboardRow> board = leaderboard(s.archive);
  std::vector<std::string> names;
  for (const LeaderboardRow& row : board) names.push_back(row.solution + (row.library ? " (library)" : ""));
  EXPECT_THAT(names,
              testing::ElementsAre("fastest (library)", "fast", "between (library)", "slow", "broken (library)"));
  EXPECT_EQ(board[1].rank, 1);
  EXPECT_EQ(board[3].rank, 2);
  EXPECT_EQ(board[2].time_us(), 25);
  EXPECT_EQ(board[4].time_us(), 0);
  EXPECT_EQ(name_of(board[4].verdict), "wrong_result");
}

}  // namespace
}  // namespace results::archive::test
