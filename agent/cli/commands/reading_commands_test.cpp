// Runs leaderboard, show, diff, lineage and query with the real program on an archive made here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/campaign/program_fixture.h"
#include "core/strict_json.h"
#include "results/archive/recorder.h"

namespace agent::cli::commands {
namespace {
using campaign::test::Ended;
using campaign::test::Home;
using core::Json;
using testing::HasSubstr;
using testing::Not;

verifier::verdicts::Judgement judged(double speed_up) {
  verifier::verdicts::Judgement judgement;
  judgement.verdict = verifier::verdicts::Correct{12, 0.25, true};
  verifier::verdicts::WorkloadTiming timing{
      "bench", {}, 100 / speed_up, 100, {speed_up, speed_up * 0.98, speed_up * 1.02}};
  for (int i = 0; i < 31; ++i) timing.pairs.push_back({100 / speed_up + i, 100, i % 2 == 0});
  judgement.measurement = verifier::verdicts::Measurement{
      "cpu-rough", {timing}, timing.speed_up, verifier::statistics::Outcome::win, false};
  verifier::verdicts::Counters counters;
  counters.kernel = "row_sum";
  counters.dram = 0.81;
  judgement.measurement->counters.push_back(counters);
  return judgement;
}

std::string source_of(int version, const std::string& backends) {
  return "/* kernelwright\n{\"problem\": \"row_sum_f32\", \"backends\": [" + backends +
         "], \"tunables\": {\"BLOCK\": [32, 64, 128]}, \"launches\": [{\"kernel\": \"row_sum\", \"grid\": [\"M\"], "
         "\"block\": [\"BLOCK\"], \"args\": [\"x\", \"y\", \"M\", \"N\"]}]}\n*/\n"
         "extern \"C\" __global__ void row_sum(const float* x, float* y, int M, int N) {}\n// line\n// version " +
         std::to_string(version) + "\n// \x1b[31mred\n";
}

// Three confirmed solutions of row_sum_f32, each made from the one before; the second and third by a model.
class Reading : public testing::Test {
 protected:
  void SetUp() override {
    results::archive::Recorder archive(home_.archive());
    const int64_t environment = archive.add_environment({{"host", "test"}});
    const benchsuite::Problem problem = benchsuite::load_problem(core::installed_paths().problems() / "row_sum_f32");
    const int64_t problem_id = archive.add_problem(problem, benchsuite::content_hash(problem));
    const sandbox::Solution naive = sandbox::own_solution(problem, benchsuite::kNaiveFile);
    const int64_t naive_id = archive.add_candidate(archive.add_solution({&naive, "naive", "naive", {}}), {});
    const int64_t campaign = archive.start_campaign({{"problems", {problem.name}}}, environment).id;
    std::optional<int64_t> parent;
    for (int i = 0; i < 3; ++i) {
      sandbox::Solution solution;
      solution.problem = problem.name;
      solution.source = source_of(i, "\"cpu\"");
      const std::string name = i == 0 ? "first" : "s" + std::to_string(i);
      const int64_t id = archive.add_solution({&solution, name, i == 0 ? "seed" : "some-model", parent});
      if (i > 0) archive.add_proposed(reply(archive, campaign, i), id);
      parent = id;
      results::archive::NewAttempt attempt;
      attempt.campaign = campaign;
      attempt.problem = problem_id;
      attempt.environment = environment;
      attempt.candidate = archive.add_candidate(id, {{"BLOCK", 32 << i}});
      attempt.device = "cpu";
      attempt.effort = verifier::verdicts::Effort::confirm;
      attempt.judgement = judged(2 + i);
      attempt.against = naive_id;
      archive.add_attempt(attempt);
    }
    campaign_ = archive.find_campaign("").name;
  }

  static int64_t reply(results::archive::Recorder& archive, int64_t campaign, int number) {
    results::archive::NewRequest asked;
    asked.campaign = campaign;
    asked.problem = "row_sum_f32";
    asked.number = number;
    asked.model = "some:model";
    asked.proposal = {{"operator", "improve"},
                      {"limit", "latency_bound"},
                      {"advice", "more_stages"},
                      {"cards", {"cp_async"}},
                      {"model_reason", "gain"}};
    asked.prompt = {{"system", ""}, {"turns", Json::array()}};
    results::archive::NewReply answer;
    answer.request = archive.add_request(asked);
    answer.outcome = "completion";
    answer.input = 5000;
    answer.dollars = 0.5;
    return archive.add_reply(answer);
  }

  Json json(std::vector<std::string> args) const {
    args.insert(args.begin(), "--json");
    const Ended ended = home_.run(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    return Json::parse(ended.out);
  }
  std::string text(const std::vector<std::string>& args) const {
    const Ended ended = home_.run(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
    return ended.out;
  }
  std::string refusal(const std::vector<std::string>& args) const {
    const Ended ended = home_.run(args);
    EXPECT_THAT(ended.exit_code, testing::AnyOf(1, 64)) << ended.out;
    return ended.err;
  }

  Home home_;
  std::string campaign_;
};

TEST_F(Reading, TheLeaderboardSaysWhoAndForHowMuch) {
  const std::string board = text({"leaderboard"});
  EXPECT_THAT(board, HasSubstr("row_sum_f32 on cpu, time at bench"));
  EXPECT_THAT(board, testing::ContainsRegex(
                         "1 +3 +4.00x ±2.0 % +25.0 us ±[0-9.]+ % +10k +\\$1.00 +some:model \\+2 +s2 BLOCK=128"));
  for (const std::string& line : core::split(board, '\n')) EXPECT_LE(line.size(), 125u) << line;  // with two of ±
  const Json rows = json({"leaderboard", "row_sum_f32", "--sort", "cost", "--limit", "2"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("solution"), "first");
  EXPECT_EQ(rows[0].at("rank"), 3);
  EXPECT_EQ(rows[1].at("lineage_cost").at("tokens"), 5000);
  const Json scores = json({"leaderboard", "--scores"});
  EXPECT_EQ(scores.at(0).at("suite"), "core");
  EXPECT_EQ(scores.at(0).at("solved"), 1);
  EXPECT_EQ(scores.at(0).at("problems"), 12);
  EXPECT_EQ(scores.at(0).at("fast_p").size(), 4u);  // naive alone was timed
  EXPECT_EQ(scores.at(0).at("fast_p").at(3),
            (Json{{"baseline", "naive"}, {"p", 2.0}, {"fast", 1}, {"problems", 12}, {"share", 1.0 / 12}}));
  EXPECT_TRUE(scores.at(0).at("clean").is_null());
  const std::string table = text({"leaderboard", "--scores"});
  EXPECT_THAT(table,
              HasSubstr("suite core on cpu: verified kernels for 1 of 12 problems, confirmed wins over naive for 1"));
  EXPECT_THAT(table, testing::ContainsRegex("  naive +12 +8 % +8 % +8 % +8 % +4.00x of 1\n"));
  EXPECT_THAT(table, testing::ContainsRegex("  PyTorch eager +0 +- "));
  EXPECT_THAT(table, HasSubstr("no problem of this suite is marked"));
  EXPECT_THAT(text({"leaderboard", "--suite", "core"}), HasSubstr("row_sum_f32 on cpu"));
}

TEST_F(Reading, ShowTellsPlanProfileAndDescent) {
  const std::string attempt = text({"show", "3"});
  EXPECT_THAT(attempt, HasSubstr("made from s1 by some:model (improve), 2 ancestors; 10k tokens, $1.00 in all"));
  EXPECT_THAT(attempt, testing::ContainsRegex("row_sum<<<[0-9]+, 128>>>\\(x, y, [0-9]+, [0-9]+\\)"));
  EXPECT_THAT(attempt, HasSubstr("81 %"));
  const std::string solution = text({"show", "s2"});
  EXPECT_THAT(solution, HasSubstr("4.00x [3.92, 4.08]"));
  EXPECT_THAT(solution, HasSubstr("row_sum<<<"));
  EXPECT_THAT(solution, HasSubstr("// version 2"));
  EXPECT_EQ(json({"show", "s2"}).at("plan").at("launches").at(0).at("block"), Json({128, 1, 1}));
  EXPECT_EQ(json({"show", campaign_}).at("verdicts").at("correct"), 3);
}

TEST_F(Reading, ShowListsACampaignsAttemptsAndModels) {
  const std::string campaign = text({"show", campaign_});
  EXPECT_THAT(campaign, testing::ContainsRegex("3 +row_sum_f32 +s2 BLOCK=128 +confirm +correct +4.00x +naive"));
  EXPECT_THAT(campaign, testing::ContainsRegex("some:model +2 +2 +2 +10k +0 +\\$1.00"));
  EXPECT_THAT(campaign, testing::ContainsRegex("ADVICE +GIVEN +SOLUTIONS +CORRECT +FASTER +MEAN GAIN\n"
                                               "more_stages +2 +2 +2 +2 +1.41x"));  // 2 to 3 to 4 over naive
  EXPECT_THAT(campaign, testing::ContainsRegex("TECHNIQUE CARD +SENT +SOLUTIONS +CORRECT +WON +MEAN GAIN\n"
                                               "cp_async +2 +2 +2 +2 +1.41x"));
  const Json shown = json({"show", campaign_});
  EXPECT_EQ(shown.at("cards").at(0).at("won"), 2);
  EXPECT_THAT(campaign, testing::ContainsRegex("MODEL +FIRST +FOR ITS GAIN +TO LEARN MORE +WON +GAIN\n"
                                               "some:model +0 +2 +0 +2 +2.00x"));
  EXPECT_EQ(shown.at("model_shares").at(0).at("won"), 2);
  EXPECT_EQ(shown.at("advice").at(0).at("advice"), "more_stages");
  EXPECT_EQ(shown.at("advice").at(0).at("faster"), 2);
  EXPECT_EQ(shown.at("attempt_numbers"), Json({1, 2, 3}));
  EXPECT_EQ(shown.at("models").at(0).at("dollars"), 1.0);
}

TEST_F(Reading, AttemptsComeOutAsATable) {
  const std::string head = "attempt,problem,device,solution,effort,verdict,against,speed_up,low,high,time_us,BLOCK\n";
  EXPECT_EQ(text({"show", "first", "--csv"}),
            head + "1,row_sum_f32,cpu,first,confirm,correct,naive,2.0,1.96,2.04,50.0,32\n");
  EXPECT_THAT(text({"show", campaign_, "--csv"}), testing::StartsWith(head + "1,"));
  EXPECT_EQ(core::split(text({"show", campaign_, "--csv"}), '\n').size(), 5u);
}

TEST_F(Reading, SolutionsOfOneNameAreToldApart) {
  {
    results::archive::Recorder archive(home_.archive());
    sandbox::Solution other;
    other.problem = "sum_f32";
    other.source = "/* another */";
    archive.add_solution({&other, "first", "user", {}});
  }
  const Json both = json({"show", "first"});
  ASSERT_TRUE(both.is_array());
  EXPECT_EQ(both.size(), 2u);
  EXPECT_EQ(json({"show", "first@row_sum_f32"}).at("problem"), "row_sum_f32");
  EXPECT_THAT(refusal({"lineage", "first"}), HasSubstr("NAME@PROBLEM"));
  EXPECT_EQ(json({"lineage", "first@row_sum_f32"}).size(), 1u);
  EXPECT_THAT(refusal({"lineage", "first@gelu_f32"}), HasSubstr("there is no attempt or solution"));
}

TEST_F(Reading, AnExportSaysWhyNoKernelQualifies) {
  const std::string out = (home_.folder() / "exported").string();
  EXPECT_THAT(refusal({"export", "row_sum_f32", "--to", "hip", "-o", out}),
              testing::AllOf(HasSubstr("none of its confirmed solutions names hip"), HasSubstr("s2 (cpu)")));
}

TEST_F(Reading, AnExportForAGpuNeedsResultsOfAGpu) {
  {
    results::archive::Recorder archive(home_.archive());
    sandbox::Solution wide;
    wide.problem = "row_sum_f32";
    wide.source = source_of(9, "\"cpu\", \"cuda\"");
    results::archive::NewAttempt attempt;
    attempt.problem = attempt.environment = 1;
    attempt.candidate =
        archive.add_candidate(archive.add_solution({&wide, "one_thread_per_row", "user", {}}), {{"BLOCK", 32}});
    attempt.device = "cpu";
    attempt.effort = verifier::verdicts::Effort::confirm;
    attempt.judgement = judged(5);
    attempt.judgement.measurement->workloads[0].workload = "bench_1024x2048";
    attempt.against = 1;
    archive.add_attempt(attempt);
  }
  const std::string out = (home_.folder() / "exported").string();
  EXPECT_THAT(refusal({"export", "row_sum_f32", "--to", "cuda", "-o", out}),
              testing::AllOf(HasSubstr("was measured on the cpu device only"), HasSubstr("--device cuda"),
                             HasSubstr("lanes_per_row")));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(Reading, ACampaignWhoseProcessWasKilledDoesNotCountAsRunning) {
  EXPECT_EQ(json({"show", campaign_}).at("status"), "running");  // by this process
  EXPECT_THAT(refusal({"resume", campaign_}), HasSubstr("is running, in another process"));
  const int child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    results::archive::Recorder archive(home_.archive());
    archive.set_campaign_status(archive.find_campaign("").id, "running");
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(json({"show", campaign_}).at("status"), "killed");
  EXPECT_THAT(text({"show", campaign_}), HasSubstr("Continue with: kernelwright resume"));
}

TEST_F(Reading, DiffShowsSourcePlanAndFigures) {
  const std::string shown = text({"diff", "1", "s2"});
  EXPECT_THAT(shown, HasSubstr("-// version 0\n+// version 2\n"));
  EXPECT_THAT(shown, HasSubstr("tunables: BLOCK=32 -> BLOCK=128"));
  EXPECT_THAT(shown, testing::ContainsRegex("-  row_sum<<<[0-9]+, 32>>>"));
  EXPECT_THAT(shown, testing::ContainsRegex("bench +50.0 us +25.0 us +2.00x"));
  EXPECT_THAT(text({"diff", "2", "2"}), HasSubstr("the sources are the same"));
  EXPECT_EQ(json({"diff", "1", "2"}).at("figures").at(0).at("a_us"), 50);
  EXPECT_THAT(refusal({"diff", "1", "nobody"}), HasSubstr("there is no attempt or solution \"nobody\""));
  EXPECT_THAT(refusal({"diff", "1", "99"}), HasSubstr("there is no attempt 99"));
}

TEST_F(Reading, LineageGoesFromTheBeginning) {
  const std::string shown = text({"lineage", "s2", "--diff"});
  EXPECT_LT(shown.find("1. first"), shown.find("2. s1"));
  EXPECT_LT(shown.find("2. s1"), shown.find("3. s2"));
  EXPECT_THAT(shown, HasSubstr("+// version 1"));
  const Json steps = json({"lineage", "3"});
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_TRUE(steps[0].at("diff").is_null());
  EXPECT_EQ(steps[2].at("stands").at(0).at("confirmed"), true);
}

TEST_F(Reading, QueryPrintsTablesAndCsv) {
  EXPECT_EQ(text({"query", "SELECT 'a,\"b' AS x, 1.5 AS y", "--csv"}), "x,y\n\"a,\"\"b\",1.5\n");
  EXPECT_THAT(text({"query", "SELECT solution, rank FROM v_leaderboard"}), HasSubstr("s2           1\n"));
  EXPECT_EQ(json({"query", "SELECT rank FROM v_leaderboard", "--limit", "2"}).at("more"), true);
  text({"query", "SELECT source FROM v_solutions"});
  EXPECT_THAT(refusal({"query", "DELETE FROM events"}), HasSubstr("may only read the archive"));
}

TEST_F(Reading, WrongWordsAreNamed) {
  EXPECT_THAT(refusal({"leaderboard", "--sort", "speed"}), HasSubstr("did you mean \"speedup\"?"));
  EXPECT_THAT(refusal({"leaderboard", "--device", "H300"}), HasSubstr("known devices: cpu"));
  EXPECT_THAT(refusal({"leaderboard", "row_sum_f23"}), HasSubstr("did you mean \"row_sum_f32\"?"));
  EXPECT_THAT(refusal({"leaderboard", "--suite", "cor"}), HasSubstr("core"));
  EXPECT_THAT(refusal({"lineage", "nobody"}), HasSubstr("there is no attempt or solution"));
}

}  // namespace
}  // namespace agent::cli::commands
