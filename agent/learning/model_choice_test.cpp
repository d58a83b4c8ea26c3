#include "agent/learning/model_choice.h"

#include <gtest/gtest.h>

#include <map>

namespace agent::learning {
namespace {
// Asks `requests` times, and gives each model its gain and cost at once. Returns how often each was asked.
std::map<size_t, int> asked(ModelChoice choice, int requests, const std::vector<double>& gains,
                            const std::vector<double>& costs) {
  std::map<size_t, int> asked;
  for (int i = 0; i < requests; ++i) {
    const size_t model = choice.choose().model;
    ++asked[model];
    choice.learn(model, gains[model], costs[model]);
  }
  return asked;
}

TEST(ModelChoice, PrefersGainPerCost) {
  const auto times = asked(ModelChoice(3), 200, {0.01, 0.2, 0.2}, {1, 1, 4});
  EXPECT_GT(times.at(1), 100);
  EXPECT_GE(times.at(0), 2);
  EXPECT_GE(times.at(2), 2);
}

TEST(ModelChoice, WithoutGainsSpendsTheSameOnEach) {
  const auto times = asked(ModelChoice(2), 210, {0, 0}, {1, 20});
  EXPECT_NEAR(times.at(1), 10, 2) << "it costs 20 times as much";
}

TEST(ModelChoice, ADearModelThatGainsEnoughIsWorthIt) {
  const auto times = asked(ModelChoice(2), 200, {0.001, 0.2}, {1, 20});
  EXPECT_GT(times.at(1), 50);
}

TEST(ModelChoice, SaysWhy) {
  ModelChoice choice(2);
  EXPECT_EQ(choice.choose().reason, ModelReason::first);
  const ModelChoice::Choice second = choice.choose();
  EXPECT_EQ(second.model, 1u);
  EXPECT_EQ(second.reason, ModelReason::first);
  choice.learn(0, 0, 1);
  choice.learn(1, 0.5, 1);
  const ModelChoice::Choice third = choice.choose();
  EXPECT_EQ(third.model, 1u);
  EXPECT_EQ(third.reason, ModelReason::gain);
  for (int i = 0; i < 40; ++i) {
    const ModelChoice::Choice next = choice.choose();
    choice.learn(next.model, 0.1, 1);
    if (next.model == 0) {
      EXPECT_EQ(next.reason, ModelReason::curiosity);
      return;
    }
  }
  FAIL() << "the other model was never tried again";
}

TEST(ModelChoice, RequestsInFlightCountWithTheirUsualCost) {
  ModelChoice choice(2, {{1, 0, 0, 0}, {10, 0, 0, 0}});
  std::map<size_t, int> times;
  for (int i = 0; i < 22; ++i) ++times[choice.choose().model];
  EXPECT_NEAR(times[1], 2, 1);
}

TEST(ModelChoice, BeginsWithWhatEarlierCampaignsKnow) {
  ModelChoice choice(2, {{1, 50, 0.1, 50}, {1, 50, 10, 50}});
  const ModelChoice::Choice first = choice.choose();
  EXPECT_EQ(first.model, 1u);
  EXPECT_EQ(first.reason, ModelReason::gain);
  const auto times = asked(ModelChoice(2, {{1, 50, 0.1, 50}, {1, 50, 10, 50}}), 100, {0.3, 0.01}, {1, 1});
  EXPECT_GT(times.at(0), 50) << "what this search sees counts more";
}

}  // namespace
}  // namespace agent::learning
