#include "agent/campaign/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/paths.h"
#include "results/archive/archive_fixture.h"

namespace agent::campaign {
namespace {
using testing::HasSubstr;

CampaignSettings settings_with(search::SpendingLimits spending) {
  CampaignSettings settings;
  settings.problems = {"gelu_f32", "softmax_f32"};
  settings.budget.attempts = 100'000;
  settings.spending = spending;
  return settings;
}

class Estimates : public testing::Test {
 protected:
  Estimate made(search::SpendingLimits spending) { return estimate(5000, settings_with(spending), prices_, {habit_}); }

  const models::Prices prices_ = models::Prices::load(core::installed_paths().prompts() / "prices.json", "2026-11-21");
  Habit habit_{"anthropic:claude-opus-5", 0, 2000, 40};
};

TEST_F(Estimates, TheTightestLimitIsNamedAndKept) {
  const Estimate by_requests = made({std::nullopt, 60, std::nullopt});
  EXPECT_THAT(by_requests.limit, HasSubstr("requests run out first, after about 30 requests"));
  EXPECT_EQ(by_requests.requests.most, 30) << "each problem has half of them";
  EXPECT_EQ(by_requests.requests.least, 12) << "the patience";
  EXPECT_LT(by_requests.tokens.least, by_requests.tokens.most);

  const Estimate by_money = made({std::nullopt, 60, 0.5});
  EXPECT_THAT(by_money.limit, HasSubstr("dollars"));
  EXPECT_LE(by_money.dollars.value().most, 0.5);
  EXPECT_GE(by_money.tokens.least, 5000);

  const Estimate by_tokens = made({20'000, 60, 5.0});
  EXPECT_THAT(by_tokens.limit, HasSubstr("tokens run out first, after about 1 requests"));
  EXPECT_LE(by_tokens.tokens.most, 20'000);
}

TEST_F(Estimates, MoneyIsThatOfThePrices) {
  const Estimate one = made({std::nullopt, 2, std::nullopt});
  ASSERT_EQ(one.requests.most, 1);
  const models::Usage least{5000, 0, 0, 600, true}, most{10'000, 0, 0, 16'000, true};
  EXPECT_DOUBLE_EQ(one.dollars.value().least, prices_.cost(least, habit_.model).value());
  EXPECT_DOUBLE_EQ(one.dollars.value().most, prices_.cost(most, habit_.model).value());
  habit_.model = "exec:true";
  EXPECT_FALSE(made({std::nullopt, 2, std::nullopt}).dollars);
}

TEST_F(Estimates, AModelsHabitComesFromTheArchive) {
  const results::archive::test::TemporaryArchive temporary;
  results::archive::test::Started s(temporary.file());
  for (const int64_t tokens : {100, 300}) {
    results::archive::NewReply reply;
    reply.request = s.archive.add_request(
        {s.campaign, "sum_f32", tokens, "exec:a", {}, {{"system", ""}, {"turns", core::Json::array()}}, "", 0, {}});
    reply.outcome = "completion";
    reply.output = tokens;
    reply.seconds = 3;
    s.archive.add_reply(reply);
  }
  const Habit known = habit_of(s.archive, "exec:a");
  EXPECT_EQ(known.replies, 2);
  EXPECT_EQ(known.output_tokens, 200);
  EXPECT_EQ(known.seconds, 3);
  EXPECT_EQ(habit_of(s.archive, "exec:b").replies, 0);
}

}  // namespace
}  // namespace agent::campaign
