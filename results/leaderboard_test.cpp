#include "results/leaderboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/archive_fixture.h"

namespace results {
namespace {
using verifier::Effort;

TEST(Leaderboard, RanksConfirmedPointsOverNaive) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const auto add = [&](const std::string& name, int64_t point, Effort effort, double speed_up) {
    return s.archive.add_attempt(
        s.attempt_at(s.add_candidate(name, "seed", {{"X", point}}), effort, correct_judgement(speed_up)));
  };
  add("slow", 1, Effort::confirm, 1.2);
  const int64_t best = add("fast", 2, Effort::confirm, 3.0);
  add("fast", 1, Effort::confirm, 2.5);      // a worse point of the same solution
  add("unconfirmed", 1, Effort::full, 9.0);  // never confirmed
  NewAttempt relative = s.attempt_at(s.add_candidate("relative", "seed"), Effort::confirm, correct_judgement(8));
  relative.against = s.add_candidate("slow", "seed", {{"X", 1}});  // not against naive
  s.archive.add_attempt(relative);
  verifier::Judgement wrong;
  wrong.verdict = verifier::MemoryLimit{"too much"};
  s.archive.add_attempt(s.attempt_at(s.add_candidate("wrong", "seed"), Effort::confirm, wrong));

  const std::vector<LeaderboardRow> board = leaderboard(s.archive);
  ASSERT_EQ(board.size(), 2u);
  EXPECT_EQ(board[0].rank, 1);
  EXPECT_EQ(board[0].solution, "fast");
  EXPECT_EQ(board[0].attempt, best);
  EXPECT_EQ(board[0].binding, (sandbox::TunableBinding{{"X", 2}}));
  EXPECT_DOUBLE_EQ(board[0].speed_up.value, 3.0);
  EXPECT_DOUBLE_EQ(board[0].speed_up.low, 3.0 * 0.98);
  EXPECT_DOUBLE_EQ(board[0].time_us(), 100 / 3.0);
  EXPECT_EQ(board[0].workloads.at(0).bound_us, std::nullopt);
  EXPECT_EQ(board[1].rank, 2);
  EXPECT_EQ(board[1].solution, "slow");
  EXPECT_EQ(leaderboard(s.archive, {"sum_f32", "cpu"}).size(), 2u);
  EXPECT_TRUE(leaderboard(s.archive, {"gelu_f32"}).empty());
  EXPECT_TRUE(leaderboard(s.archive, {"", "cuda:0"}).empty());
}

TEST(Leaderboard, KnowsTheBoundOfTheWorkloadThatItShows) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  verifier::Judgement judgement = correct_judgement(2);
  judgement.measurement->workloads.push_back(judgement.measurement->workloads[0]);
  judgement.measurement->workloads[0].bound_us = 40;
  judgement.measurement->workloads[1].bound_us = 30;
  s.archive.add_attempt(s.attempt_at(s.add_candidate("near", "seed"), Effort::confirm, judgement));
  ASSERT_EQ(leaderboard(s.archive).size(), 1u);
  EXPECT_EQ(leaderboard(s.archive)[0].workloads.at(0).bound_us, 40);
}

TEST(Leaderboard, ForgetsVersionsOfAProblemThatAreNoLongerJudged) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  NewAttempt attempt = s.attempt_at(s.add_candidate("old", "seed"), Effort::confirm, correct_judgement(5));
  s.archive.add_attempt(attempt);
  benchsuite::Problem changed;
  changed.name = "sum_f32";
  attempt.problem = s.archive.add_problem(changed, "another hash");
  attempt.candidate = s.add_candidate("new", "seed");
  attempt.judgement = correct_judgement(2);
  s.archive.add_attempt(attempt);
  ASSERT_EQ(leaderboard(s.archive).size(), 1u);
  EXPECT_EQ(leaderboard(s.archive)[0].solution, "new");
}

}  // namespace
}  // namespace results
