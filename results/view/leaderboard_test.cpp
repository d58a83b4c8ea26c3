#include "results/archive/leaderboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "results/archive/archive_fixture.h"
#include "results/archive/lineage.h"

namespace results::view::test {
namespace {
using namespace archive;
using namespace archive::test;
using verifier::verdicts::Effort;

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
  verifier::verdicts::Judgement wrong;
  wrong.verdict = verifier::verdicts::MemoryLimit{"too much"};
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
  verifier::verdicts::Judgement judgement = correct_judgement(2);
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

TEST(Leaderboard, TakesTheVersionJudgedLastWithinASecond) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const NewAttempt first = s.attempt_at(s.add_candidate("first", "seed"), Effort::confirm, correct_judgement(5));
  benchsuite::Problem changed;
  changed.name = "sum_f32";
  NewAttempt second = first;
  second.problem = s.archive.add_problem(changed, "another hash");
  second.candidate = s.add_candidate("second", "seed");
  for (const auto& [attempt, solution] : {std::pair(&first, "first"), {&second, "second"}, {&first, "first"}}) {
    s.archive.add_attempt(*attempt);
    const std::vector<LeaderboardRow> board = leaderboard(s.archive);
    ASSERT_EQ(board.size(), 1u);
    EXPECT_EQ(board[0].solution, solution);
  }
}

verifier::verdicts::Judgement timed_at(std::map<std::string, double> speed_ups,
                                       verifier::statistics::Outcome outcome = verifier::statistics::Outcome::win,
                                       const std::map<std::string, double>& weights = {}) {
  verifier::verdicts::Judgement judgement = correct_judgement(2);
  verifier::verdicts::Measurement& m = *judgement.measurement;
  const verifier::verdicts::WorkloadTiming like = m.workloads[0];
  m.workloads.clear();
  std::vector<verifier::statistics::WeightedSpeedUp> parts;
  for (const auto& [workload, speed_up] : speed_ups) {
    verifier::verdicts::WorkloadTiming timing = like;
    timing.workload = workload;
    timing.speed_up = {speed_up, speed_up / 1.01, speed_up * 1.01};
    timing.candidate_us = 100 / speed_up;
    for (size_t i = 0; i < timing.pairs.size(); ++i) timing.pairs[i].candidate_us = 100 / speed_up + double(i) - 15;
    if (const auto weight = weights.find(workload); weight != weights.end()) timing.weight = weight->second;
    parts.push_back({timing.speed_up, timing.weight});
    m.workloads.push_back(timing);
  }
  m.speed_up = verifier::statistics::combine(parts);
  m.outcome = outcome;
  return judgement;
}

TEST(Leaderboard, ListsUnconfirmedSolutionsLast) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const int64_t sure = s.add_candidate("sure", "seed");
  s.archive.add_attempt(s.attempt_at(sure, Effort::confirm, correct_judgement(2)));
  s.archive.add_attempt(s.attempt_at(sure, Effort::full, correct_judgement(9)));  // counts only by its confirmation
  s.archive.add_attempt(s.attempt_at(s.add_candidate("hoped", "seed"), Effort::full, correct_judgement(5)));
  s.archive.add_attempt(s.attempt_at(s.add_candidate("failed", "seed"), Effort::confirm,
                                     timed_at({{"bench", 0.5}}, verifier::statistics::Outcome::loss)));
  s.archive.add_attempt(s.attempt_at(s.add_candidate("glimpsed", "seed"), Effort::screen, correct_judgement(7)));
  s.archive.add_attempt(s.attempt_at(s.naive, Effort::full, correct_judgement(1)));
  EXPECT_EQ(leaderboard(s.archive).size(), 1u);
  LeaderboardFilter all;
  all.unconfirmed = true;
  const std::vector<LeaderboardRow> board = leaderboard(s.archive, all);
  ASSERT_EQ(board.size(), 3u);
  EXPECT_EQ(board[0].solution, "sure");
  EXPECT_TRUE(board[0].confirmed);
  EXPECT_EQ(board[0].speed_up.value, 2);
  EXPECT_EQ(board[1].solution, "hoped");
  EXPECT_FALSE(board[1].confirmed || board[2].confirmed);
  EXPECT_EQ(board[1].rank, 0);
  EXPECT_EQ(board[2].solution, "failed");
}

TEST(Leaderboard, SortsAndCuts) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const auto add = [&](const std::string& name, double a, double b, double bound_us) {
    verifier::verdicts::Judgement judgement = timed_at({{"a", a}, {"b", b}});
    judgement.measurement->workloads[0].bound_us = bound_us;
    s.archive.add_attempt(s.attempt_at(s.add_candidate(name, "seed"), Effort::confirm, judgement));
  };
  add("x", 2, 8, 40);   // 50 us at a, 80 % of the bound, 4x
  add("z", 4, 1.5, 5);  // 25 us at a, 20 %, 2.4x
  add("y", 3, 3, 10);   // 33 us at a, 30 %, 3x
  using Sort = LeaderboardFilter::Sort;
  const auto names = [&](Sort sort, size_t limit) {
    std::string text;
    for (const LeaderboardRow& row : leaderboard(s.archive, {"", "", sort, limit})) {
      text += row.solution + std::to_string(row.rank) + " ";
    }
    return text;
  };
  EXPECT_EQ(names(Sort::speedup, 0), "x1 y2 z3 ");
  EXPECT_EQ(names(Sort::speedup, 2), "x1 y2 ");
  EXPECT_EQ(names(Sort::time, 0), "z3 y2 x1 ");
  EXPECT_EQ(names(Sort::bound, 2), "x1 y2 ");
  EXPECT_EQ(names(Sort::date, 0), "y2 z3 x1 ");
  EXPECT_EQ(names(Sort::name, 0), "x1 y2 z3 ");
  EXPECT_EQ(sort_from_name("bound", "--sort"), Sort::bound);
  EXPECT_THROW(sort_from_name("tme", "--sort"), core::InputError);
}

TEST(Leaderboard, HasIntervalsOfTimes) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  s.archive.add_attempt(s.attempt_at(s.add_candidate("x", "seed"), Effort::confirm, timed_at({{"a", 2}})));
  const WorkloadFigures figures = leaderboard(s.archive).at(0).workloads.at(0);
  EXPECT_EQ(figures.time_us.value, 50);
  EXPECT_EQ(figures.time_us.low, 42);  // the eighth of 31 values from 35
  EXPECT_EQ(figures.time_us.high, 58);
}

TEST(Leaderboard, HoldsSolutionsAgainstLibrariesWhereBothWereTimed) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  s.archive.add_attempt(s.attempt_at(s.add_candidate("x", "seed"), Effort::confirm, timed_at({{"a", 4}, {"b", 9}})));
  s.archive.add_baseline({s.problem, s.environment, "cpu", "cuBLAS 13.0", timed_at({{"b", 3}, {"c", 1}})});
  s.archive.add_baseline({s.problem, s.environment, "cpu", "other", timed_at({{"d", 3}})});
  const std::vector<LeaderboardRow> board = leaderboard(s.archive);
  const auto x = std::find_if(board.begin(), board.end(), [](const auto& row) { return row.solution == "x"; });
  ASSERT_NE(x, board.end());
  ASSERT_EQ(x->over_libraries.size(), 1u);
  const OverLibrary& over = x->over_libraries[0];
  EXPECT_EQ(over.library, "cuBLAS 13.0");
  EXPECT_EQ(over.workloads, 1u);
  EXPECT_NEAR(over.ratio.value, 3, 1e-9);
  EXPECT_NEAR(over.ratio.high, 3 * std::exp(std::sqrt(2) * std::log(1.01)), 1e-9);
  EXPECT_NEAR(over.ratio.low, 3 / std::exp(std::sqrt(2) * std::log(1.01)), 1e-9);
}

TEST(Leaderboard, TakesMeansOverWorkloadsByWeight) {
  const TemporaryArchive temporary;
  Started s(temporary.file());
  const std::map<std::string, double> weights{{"a", 3}};  // and b: 1
  const auto win = verifier::statistics::Outcome::win;
  s.archive.add_attempt(
      s.attempt_at(s.add_candidate("x", "seed"), Effort::confirm, timed_at({{"a", 4}, {"b", 1}}, win, weights)));
  s.archive.add_baseline({s.problem, s.environment, "cpu", "PyTorch", timed_at({{"a", 2}, {"b", 2}}, win, weights)});
  s.archive.add_baseline({s.problem, s.environment, "cpu", "cuBLAS", timed_at({{"a", 16}, {"b", 1}}, win, weights)});
  const std::vector<LeaderboardRow> board = leaderboard(s.archive);
  const auto row = [&](const std::string& name) {
    return *std::find_if(board.begin(), board.end(), [&](const auto& one) { return one.solution == name; });
  };
  EXPECT_NEAR(row("x").speed_up.value, std::pow(4, 0.75), 1e-9);
  EXPECT_EQ(row("x").workloads.at(0).weight, 3);
  EXPECT_EQ(row("x").workloads.at(1).weight, 1);
  EXPECT_NEAR(row("cuBLAS").speed_up.value, 8, 1e-9);
  const std::vector<OverLibrary> over = row("x").over_libraries;
  ASSERT_EQ(over.size(), 2u);
  EXPECT_NEAR(over[0].ratio.value, std::pow(2, 0.75) * std::pow(0.5, 0.25), 1e-9);
}

// A campaign's solutions with the replies that proposed them.
struct Family : Started {
  using Started::Started;
  int64_t reply(const std::string& task, double dollars) {
    NewRequest asked;
    asked.campaign = campaign;
    asked.problem = "sum_f32";
    asked.number = ++number;
    asked.model = "some:model";
    asked.proposal = {{"operator", task}};
    asked.prompt = {{"system", ""}, {"turns", core::Json::array()}};
    NewReply answer;
    answer.request = archive.add_request(asked);
    answer.outcome = "completion";
    answer.input = 1000;
    answer.output = 100 * number;
    if (dollars > 0) answer.dollars = dollars;
    return archive.add_reply(answer);
  }
  int64_t brought(const std::string& name, int64_t by, std::optional<int64_t> parent) {
    const sandbox::Solution solution = solution_named(name);
    const int64_t id = archive.add_solution({&solution, name, "some-model", parent});
    archive.add_proposed(by, id);
    return id;
  }
  int64_t number = 0;
};

TEST(Lineage, KnowsProposersAndCosts) {
  const TemporaryArchive temporary;
  Family f(temporary.file());
  const sandbox::Solution seed = solution_named("seed");
  const int64_t root = f.archive.add_solution({&seed, "seed", "seed", {}});
  const int64_t first = f.reply("improve", 0.5), second = f.reply("cross", 0);
  const int64_t a = f.brought("a", first, root);
  f.brought("twin", first, root);
  const int64_t b = f.brought("b", second, a);
  f.archive.add_proposed(f.reply("fresh", 9), b);  // proposed again later: does not count
  f.archive.add_attempt(f.attempt_at(f.archive.add_candidate(b, {}), Effort::confirm, correct_judgement(3)));

  const std::vector<LineageStep> steps = lineage(f.archive, b);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].solution.name, "b");
  EXPECT_EQ(steps[0].descent.task, "cross");
  EXPECT_EQ(steps[0].descent.ancestors, 2);
  EXPECT_EQ(steps[0].descent.own.tokens, 1200);
  EXPECT_FALSE(steps[0].descent.own.all_priced);
  EXPECT_EQ(steps[0].descent.lineage.tokens, 2300);
  EXPECT_EQ(steps[0].descent.lineage.dollars, 0.5);
  EXPECT_EQ(steps[0].descent.lineage.replies, 2);
  ASSERT_EQ(steps[0].stands.size(), 1u);
  EXPECT_TRUE(steps[0].stands[0].confirmed);
  EXPECT_EQ(steps[1].descent.model, "some:model");
  EXPECT_EQ(steps[2].solution.origin, "seed");
  EXPECT_EQ(steps[2].descent.lineage.replies, 0);
  EXPECT_TRUE(steps[2].stands.empty());

  const LeaderboardRow row = leaderboard(f.archive, {"", "", LeaderboardFilter::Sort::cost}).at(0);
  EXPECT_EQ(row.descent.lineage.tokens, 2300);
  EXPECT_EQ(row.descent.parent, a);
  EXPECT_EQ(best_attempt(f.archive, b), row.attempt);
  EXPECT_EQ(best_attempt(f.archive, root), std::nullopt);
  EXPECT_EQ(verdicts_of_campaign(f.archive, f.campaign), (std::map<std::string, int64_t>{{"correct", 1}}));
}

}  // namespace
}  // namespace results::view::test
