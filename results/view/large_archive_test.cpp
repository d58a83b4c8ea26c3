// Frequent queries must not slow down with every attempt: checks their plans in a large archive (scripts/make_archive),
// and the tables that triggers maintain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "results/archive/archive_fixture.h"
#include "results/archive/database.h"
#include "results/archive/exchanges.h"
#include "results/archive/leaderboard.h"
#include "results/archive/lineage.h"
#include "results/archive/problems.h"
#include "results/view/scores.h"

namespace results::view::test {
namespace {
using namespace archive;
using namespace archive::test;
using verifier::verdicts::Effort;

class LargeArchive : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryArchive>();
    const std::filesystem::path small = folder_->file().parent_path() / "small.db";
    {
      Started s(small);
      s.archive.add_attempt(s.attempt_at(s.add_candidate("first", "seed"), Effort::full, correct_judgement(2)));
    }
    const std::string command = std::string("python3 ") + KW_SOURCE_FOLDER "/scripts/make_archive 20000 " +
                                folder_->file().string() + " --from " + small.string();
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::unique_ptr<TemporaryArchive> folder_;
};
std::unique_ptr<TemporaryArchive> LargeArchive::folder_;

// The steps of a statement's plan that scan a whole table that grows with the attempts.
std::vector<std::string> long_ways(Database& database, const std::string& sql) {
  std::vector<std::string> found;
  Statement plan = database.prepare("EXPLAIN QUERY PLAN " + sql);
  while (plan.step()) {
    const std::string step = plan.text(3);
    for (const char* table : {"attempts", "compilations", "measurements", "timings", "candidates", "solutions",
                              "requests", "replies", "proposed", "events", "a", "k", "m", "t", "c", "s", "q", "r"}) {
      const std::string scan = std::string("SCAN ") + table;
      if (step == scan || step.rfind(scan + " ", 0) == 0) found.push_back(step + " in " + sql);
    }
  }
  return found;
}

TEST_F(LargeArchive, IsReadByIndex) {
  const archive::Recorder archive(folder_->file());
  Database& database = database_of(archive);
  ASSERT_GT(archive.count_attempts(), 20000);
  const size_t uncounted = database.prepared().size();
  const std::vector<LeaderboardRow> board = leaderboard(archive, {"", "", LeaderboardFilter::Sort::speedup, 3});
  const auto best = std::find_if(board.begin(), board.end(), [](const auto& row) { return !row.library; });
  ASSERT_NE(best, board.end());
  leaderboard(archive, {best->problem, best->device, LeaderboardFilter::Sort::time, 3, true});
  leaderboard(archive, {best->problem, "", LeaderboardFilter::Sort::cost, 3});
  suite_scores(archive, {.problems = {best->problem}});
  archive.attempt(best->attempt);
  EXPECT_FALSE(lineage(archive, best->solution_id).empty());
  newest_attempts(archive, best->solution_id, 5);
  EXPECT_EQ(archive.find_solutions(best->hash.substr(0, 12)).size(), 1u);
  archive::problem_of_attempt(archive, best->attempt);
  solution_of_attempt(archive, best->attempt);
  EXPECT_TRUE(archive.has_attempt(best->attempt));
  EXPECT_TRUE(incumbent_of_attempt(archive, best->attempt));
  const CampaignRecord campaign = archive.find_campaign(best->campaign);
  EXPECT_FALSE(verdicts_of_campaign(archive, campaign.id).empty());
  newest_exchanges(archive, campaign.id, 20);
  if (const auto exchange = find_exchange(archive, 1)) following_exchange(archive, *exchange);
  why_none_answered(archive, campaign.id);
  proposing_request(archive, best->solution_id, campaign.id);
  exchanges_made_from(archive, best->solution_id, campaign.id, 20);
  archive.baselines("", "");
  archive.find_attempt(campaign.id, 1, Effort::screen, 1);
  archive.find_artefact(campaign.id, "none", Effort::screen, 1);
  const std::vector<std::string> asked = database.prepared();
  EXPECT_GT(asked.size(), uncounted + 15);
  for (const std::string& sql : asked) {
    if (sql == "SELECT count(*) FROM attempts" || sql.rfind("PRAGMA", 0) == 0) continue;
    EXPECT_THAT(long_ways(database, sql), testing::IsEmpty());
  }
}

TEST_F(LargeArchive, IsWrittenByIndex) {
  archive::Recorder archive(folder_->file());
  Database& database = database_of(archive);
  const int64_t campaign = archive.find_campaign("").id;
  const std::string before = leaderboard(archive, {"", "", LeaderboardFilter::Sort::speedup, 1}).at(0).problem;
  NewAttempt attempt;
  attempt.campaign = campaign;
  attempt.environment = archive.add_environment({{"host", "test"}});
  benchsuite::Problem problem;
  problem.name = before;
  problem.json_text = "{}";
  attempt.problem = archive.add_problem(problem, "newer files");
  const sandbox::Solution naive = solution_named("another naive"), solution = solution_named("another");
  attempt.against = archive.add_candidate(archive.add_solution({&naive, "naive", "naive", {}}), {});
  attempt.candidate = archive.add_candidate(archive.add_solution({&solution, "another", "seed", {}}), {});
  attempt.device = "cpu";
  attempt.effort = Effort::confirm;
  attempt.judgement = correct_judgement(2);
  const int64_t id = archive.add_attempt(attempt);
  archive.add_event(campaign, "stopped", {});
  ASSERT_EQ(leaderboard(archive, {before, "cpu"}).size(), 1u);
  EXPECT_EQ(leaderboard(archive, {before, "cpu"})[0].attempt, id);
  for (const std::string& sql : database.prepared()) {
    if (sql.rfind("PRAGMA", 0) == 0) continue;
    EXPECT_THAT(long_ways(database, sql), testing::IsEmpty());
  }
}

// Recomputed from the base tables.
TEST_F(LargeArchive, StandingsMatchTheAttempts) {
  Database database(folder_->file());
  Statement wrong = database.prepare(R"sql(
WITH told AS (
  SELECT a.problem, a.device, c.solution, a.effort = 'confirm' AND m.outcome = 'win' AS confirmed, max(m.low) AS low
  FROM attempts a JOIN measurements m ON m.attempt = a.id JOIN candidates c ON c.id = a.candidate
       JOIN solutions s ON s.id = c.solution JOIN candidates n ON n.id = m.against
       JOIN solutions ns ON ns.id = n.solution
  WHERE a.effort IN ('full', 'confirm') AND a.verdict = 'correct' AND s.origin <> 'naive' AND ns.origin = 'naive'
  GROUP BY 1, 2, 3, 4)
SELECT (SELECT count(*) FROM told),
       (SELECT count(*) FROM (SELECT * FROM told
                              EXCEPT SELECT problem, device, solution, confirmed, low FROM standings)),
       (SELECT count(*) FROM (SELECT problem, device, solution, confirmed, low FROM standings
                              EXCEPT SELECT * FROM told)))sql");
  ASSERT_TRUE(wrong.step());
  EXPECT_GT(wrong.integer(0), 500);
  EXPECT_EQ(wrong.integer(1), 0);
  EXPECT_EQ(wrong.integer(2), 0);
}

}  // namespace
}  // namespace results::view::test
