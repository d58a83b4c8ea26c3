#include "agent/cli/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent::cli {
namespace {
using testing::ElementsAre;

search::AttemptReport attempt(int64_t number, double best, const verifier::verdicts::Verdict& verdict) {
  search::AttemptReport report;
  report.number = number;
  report.problem = "sum_f32";
  report.solution = "rows";
  report.verdict = &verdict;
  report.best = best;
  report.left = {40 - number, 12.4};
  return report;
}

search::ReplyReport reply(const std::string& model, const std::string& failed) {
  search::ReplyReport report;
  report.model = model;
  report.task = "refine";
  report.failed = failed;
  report.usage = {100, 300, 0, 70, false};
  report.dollars = 0.25;
  report.requests = 3;
  report.in_flight = 2;
  return report;
}

TEST(LiveView, ShowsTheCurveTheLastVerdictsAndTheBudget) {
  const verifier::verdicts::Verdict correct = verifier::verdicts::Correct{};
  LiveView view;
  view.problem_started("sum_f32", "[1/3] sum_f32");
  EXPECT_THAT(view.lines(), ElementsAre("[1/3] sum_f32"));
  for (int64_t i = 1; i <= 4; ++i) view.attempted(attempt(i, static_cast<double>(i), correct));
  EXPECT_THAT(view.lines(),
              ElementsAre("[1/3] sum_f32  best 4.00x  ▁▃▅█  left 36 attempts, 12 s", "  #2 screen  rows  correct",
                          "  #3 screen  rows  correct", "  #4 screen  rows  correct"));
  view.problem_ended("sum_f32");
  view.problem_started("gelu_f32", "[2/3] gelu_f32");
  EXPECT_THAT(view.lines(), ElementsAre("[2/3] gelu_f32  left 36 attempts, 12 s")) << "the other problem's are gone";
}

TEST(LiveView, ShowsProblemsSideBySide) {
  const verifier::verdicts::Verdict correct = verifier::verdicts::Correct{};
  LiveView view;
  view.problem_started("sum_f32", "[1/3] sum_f32");
  view.problem_started("gelu_f32", "[2/3] gelu_f32");
  for (int64_t i = 1; i <= 3; ++i) view.attempted(attempt(i, static_cast<double>(i), correct));
  EXPECT_THAT(view.lines(), ElementsAre("[2/3] gelu_f32", "[1/3] sum_f32  best 3.00x  ▁▄█  left 37 attempts, 12 s",
                                        "  #1 sum_f32 screen  rows  correct", "  #2 sum_f32 screen  rows  correct",
                                        "  #3 sum_f32 screen  rows  correct"));
}

TEST(LiveView, ShowsEveryModelAndTheTotalCost) {
  LiveView view;
  view.problem_started("sum_f32", "[1/1] sum_f32");
  view.answered(reply("openai:a", "it was cut off"));
  view.answered(reply("openai:b", ""));
  view.answered(reply("openai:a", ""));
  EXPECT_THAT(view.lines(),
              ElementsAre("[1/1] sum_f32", "  openai:a, refine: replied", "  openai:b, refine: replied",
                          "  3 requests, 400 tokens in (75 % from caches), 70 out, $0.2500, 2 in flight"));
}

TEST(Sparkline, HasAtMostItsWidthAndEndsWithTheLast) {
  EXPECT_EQ(sparkline({}, 8), "");
  EXPECT_EQ(sparkline({1, 1}, 8), "▁▁") << "nothing better than naive";
  EXPECT_EQ(sparkline({0.5, 1, 3, 8}, 2), "▁█");
}

}  // namespace
}  // namespace agent::cli
