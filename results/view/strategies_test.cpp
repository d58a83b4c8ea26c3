#include "results/view/strategies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace results::view {
namespace {
using archive::TrialCampaign;
using verifier::statistics::SpeedUp;

TrialCampaign campaign(const std::string& strategy, const std::string& problem, std::optional<SpeedUp> best,
                       std::optional<int64_t> first_correct = {}, const std::string& status = "done") {
  TrialCampaign one;
  one.record.status = status;
  one.record.spent_seconds = 10;
  one.strategy = strategy;
  one.problem = problem;
  one.seed = 1;
  if (strategy != "tune") one.spend = {3, 3000, 0.3, true};
  one.first_correct = first_correct;
  one.best = best;
  return one;
}

TEST(Strategies, SharesHaveIntervalsThatHoldTheShare) {
  const Share half = share_of(5, 10);
  EXPECT_NEAR(half.low, 0.2366, 1e-4);
  EXPECT_NEAR(half.high, 0.7634, 1e-4);
  EXPECT_EQ(share_of(0, 4).low, 0);
  EXPECT_NEAR(share_of(0, 4).high, 0.4899, 1e-4);
  EXPECT_EQ(share_of(4, 4).high, 1);
  EXPECT_EQ(share_of(0, 0).value(), 0);
}

TEST(Strategies, AreComparedWithTheTunersBestOfTheSameProblem) {
  const std::vector<StrategyFigures> all = strategy_figures(
      {campaign("tune", "a_f32", SpeedUp{2, 1.9, 2.1}), campaign("tune", "b_f32", {}),
       campaign("refine", "a_f32", SpeedUp{4, 3.9, 4.1}, 2), campaign("refine", "b_f32", {}),
       campaign("refine", "c_f32", SpeedUp{9, 8, 10}, 1), campaign("refine", "a_f32", {}, {}, "interrupted")});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].strategy, "tune");
  EXPECT_TRUE(all[0].correct_within.empty());
  EXPECT_FALSE(all[0].over_tuned);
  const StrategyFigures& refine = all[1];
  EXPECT_EQ(refine.campaigns, 3);
  EXPECT_EQ(refine.unfinished, 1);
  ASSERT_EQ(refine.correct_within.size(), 3u);
  EXPECT_EQ(refine.correct_within[0].count, 1);
  EXPECT_EQ(refine.correct_within[1].count, 2);
  EXPECT_EQ(refine.correct_within[2].count, 2);
  EXPECT_EQ(refine.wins.count, 1);  // the tuner has no campaign for c_f32
  EXPECT_EQ(refine.wins.of, 2);
  EXPECT_NEAR(refine.over_tuned.value(), std::sqrt(2.0), 1e-12);
  EXPECT_FALSE(refine.over_tuned_interval);
  EXPECT_DOUBLE_EQ(refine.dollars, 0.3);
  EXPECT_DOUBLE_EQ(refine.seconds, 10);
  EXPECT_TRUE(json_of(refine).at("over_tuned").at("low").is_null());
}

TEST(Strategies, AWinIsAboveTheTunersInterval) {
  const std::vector<StrategyFigures> all = strategy_figures(
      {campaign("tune", "a_f32", SpeedUp{2, 1.9, 2.5}), campaign("evolve", "a_f32", SpeedUp{2.6, 2.4, 2.8})});
  EXPECT_EQ(all[1].wins.count, 0);
}

TEST(Strategies, ManyProblemsGiveAnInterval) {
  std::vector<TrialCampaign> campaigns;
  for (int i = 0; i < 8; ++i) {
    const std::string problem = "p" + std::to_string(i) + "_f32";
    const double best = 1 + 0.25 * i;
    campaigns.push_back(campaign("tune", problem, SpeedUp{1, 0.9, 1.1}));
    campaigns.push_back(campaign("best_of_n", problem, SpeedUp{best, best, best}, 1));
  }
  const StrategyFigures figures = strategy_figures(campaigns)[1];
  ASSERT_TRUE(figures.over_tuned_interval);
  EXPECT_LT(figures.over_tuned_interval->low, figures.over_tuned.value());
  EXPECT_GT(figures.over_tuned_interval->high, figures.over_tuned.value());
  EXPECT_GT(figures.over_tuned_interval->low, 1);
  EXPECT_LT(figures.over_tuned_interval->high, 2.75);
}

}  // namespace
}  // namespace results::view
