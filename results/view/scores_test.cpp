#include "results/view/scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "results/archive/archive_fixture.h"
#include "results/view/json.h"

namespace results::view::test {
namespace {
using namespace archive;
using namespace archive::test;
using core::Json;
using testing::ElementsAre;
using verifier::verdicts::Effort;

// Solutions and libraries of problems that only have a name and a kind of reference.
struct Judged : Started {
  using Started::Started;
  int64_t problem_id(const std::string& name) {
    benchsuite::Problem of;
    of.name = name;
    of.json_text = "{}";
    of.files = name.rfind("torch", 0) == 0 ? benchsuite::SourceFiles{{"reference.py", "x"}}
                                           : benchsuite::SourceFiles{{"reference.cu", "x"}, {"naive.cu", "x"}};
    return archive.add_problem(of, "hash of " + name);
  }
  void judge(const std::string& name, Effort effort, double speed_up) {
    NewAttempt attempt = attempt_at(add_candidate("for " + name, "seed"), effort, correct_judgement(speed_up));
    attempt.problem = problem_id(name);
    archive.add_attempt(attempt);
  }
  void library(const std::string& name, const std::string& of, double over_naive) {
    archive.add_baseline({problem_id(name), environment, "cpu", of, correct_judgement(over_naive)});
  }
};

const OverBaseline& over(const Scores& scores, const std::string& baseline) {
  for (const OverBaseline& of : scores.over) {
    if (of.baseline == baseline) return of;
  }
  throw core::SystemError("no scores over " + baseline);
}

// Speed-ups over naive: a 4, b 3 but unconfirmed, c 0.7, d a library alone, e nothing.
void fill(Judged& judged) {
  judged.judge("a", Effort::confirm, 4);
  judged.judge("b", Effort::full, 3);
  judged.judge("c", Effort::full, 0.7);
  judged.library("a", "PyTorch 2.11 eager", 2.5);  // a is 1.6 times as fast
  judged.library("b", "PyTorch 2.10 eager", 0.8);  // b at naive's speed: 1.25
  judged.library("d", "PyTorch 2.11 eager", 2);
  judged.library("a", "PyTorch 2.11 compile", 1.5);
  judged.library("a", "PyTorch 2.11 compile max-autotune", 5);  // the best mode: a is 0.8 times as fast
  judged.library("a", "another library", 9);
}

TEST(Scores, CountEveryProblemOfTheSuiteAsKernelBenchDoes) {
  const TemporaryArchive temporary;
  Judged judged(temporary.file());
  fill(judged);
  const std::vector<SuiteScores> all = suite_scores(judged.archive, {"five", "", {"a", "b", "c", "d", "e"}});
  ASSERT_EQ(all.size(), 1u);
  const Scores& scores = all[0].all;
  EXPECT_EQ(all[0].suite, "five");
  EXPECT_EQ(all[0].device, "cpu");
  EXPECT_EQ(scores.problems, 5u);
  EXPECT_EQ(scores.verified, 3u);
  EXPECT_EQ(scores.solved, 1u);
  EXPECT_NEAR(scores.geometric_mean, std::pow(4, 0.2), 1e-9);
  EXPECT_NEAR(scores.geometric_mean_of_solved.value(), 4, 1e-9);

  const OverBaseline& naive = over(scores, "naive");
  EXPECT_EQ(naive.problems, 5u);
  EXPECT_EQ(naive.compared, 3u);
  EXPECT_THAT(naive.fast, ElementsAre(3, 1, 1, 1));
  EXPECT_NEAR(naive.geometric_mean.value(), std::cbrt(4 * 1 * 0.7), 1e-9);

  const OverBaseline& eager = over(scores, "PyTorch eager");
  EXPECT_EQ(eager.problems, 3u);
  EXPECT_EQ(eager.compared, 2u);
  EXPECT_THAT(eager.fast, ElementsAre(2, 2, 1, 0));
  EXPECT_NEAR(eager.geometric_mean.value(), std::sqrt(1.6 * 1.25), 1e-9);

  const OverBaseline& compile = over(scores, "PyTorch compile");
  EXPECT_EQ(compile.problems, 1u);
  EXPECT_THAT(compile.fast, ElementsAre(1, 0, 0, 0));
  EXPECT_NEAR(compile.geometric_mean.value(), 0.8, 1e-9);
  EXPECT_EQ(scores.over.size(), 3u);  // no cuBLAS
  EXPECT_FALSE(all[0].clean);
  EXPECT_TRUE(suite_scores(judged.archive, {"one", "", {"a"}}, "cuda").empty());
}

TEST(Scores, LeaveUncleanProblemsOutOfTheCleanSubset) {
  const TemporaryArchive temporary;
  Judged judged(temporary.file());
  fill(judged);
  const benchsuite::Suite suite{
      "five", "", {"a", "b", "c", "d", "e"}, {{"a", "its output is constant"}, {"e", "same"}}};
  const SuiteScores scores = suite_scores(judged.archive, suite).at(0);
  EXPECT_EQ(scores.all.problems, 5u);
  ASSERT_TRUE(scores.clean);
  EXPECT_EQ(scores.clean->problems, 3u);
  EXPECT_EQ(scores.clean->solved, 0u);
  EXPECT_FALSE(scores.clean->geometric_mean_of_solved);
  EXPECT_THAT(over(*scores.clean, "naive").fast, ElementsAre(2, 0, 0, 0));
  EXPECT_NEAR(over(*scores.clean, "naive").geometric_mean.value(), std::sqrt(0.7), 1e-9);
  EXPECT_THAT(over(*scores.clean, "PyTorch eager").fast, ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(over(*scores.clean, "PyTorch compile").problems, 0u);
  EXPECT_EQ(over(*scores.clean, "PyTorch compile").geometric_mean, std::nullopt);

  const Json json = json_of(scores);
  EXPECT_EQ(json["fast_p"].size(), 12u);  // three baselines at four thresholds
  EXPECT_EQ(json["fast_p"][6],
            (Json{{"baseline", "PyTorch eager"}, {"p", 1.5}, {"fast", 1}, {"problems", 5}, {"share", 0.2}}));
  EXPECT_EQ(json["clean"]["problems"], 3);
  EXPECT_EQ(json["clean"]["fast_p"].size(), 8u);  // no problem has a time of torch.compile
  EXPECT_EQ(json["clean"]["baselines"][2],
            (Json{{"baseline", "PyTorch compile"}, {"problems", 0}, {"compared", 0}, {"geometric_mean", nullptr}}));
  EXPECT_EQ(json["unclean"]["a"], "its output is constant");
}

TEST(Scores, TakeTheNaiveSolutionOfAProblemInPytorchForEager) {
  const TemporaryArchive temporary;
  Judged judged(temporary.file());
  judged.judge("torch_sum", Effort::confirm, 3);
  judged.judge("sum", Effort::confirm, 2);
  const Scores scores = suite_scores(judged.archive, {"two", "", {"sum", "torch_sum"}}).at(0).all;
  EXPECT_EQ(over(scores, "PyTorch eager").problems, 1u);
  EXPECT_NEAR(over(scores, "PyTorch eager").geometric_mean.value(), 3, 1e-9);
  EXPECT_THAT(over(scores, "PyTorch eager").fast, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(over(scores, "naive").fast, ElementsAre(2, 2, 2, 1));  // exactly 2 is not more than 2
  EXPECT_EQ(over(scores, "PyTorch compile").problems, 0u);
}

}  // namespace
}  // namespace results::view::test
