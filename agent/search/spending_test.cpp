#include "agent/search/spending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agent::search {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Spending, ReservesCount) {
  Spending spending({1000, std::nullopt, 1.0}, {0, 0, 0});
  const Reserve half{500, 0.4};
  EXPECT_FALSE(spending.why_not(half));
  spending.reserve(half);
  EXPECT_FALSE(spending.why_not(half));
  spending.reserve(half);
  EXPECT_THAT(spending.why_not({1, 0.0}).value(), HasSubstr("tokens left (0)"));
  spending.settle(half, {10, 0, 0, 20, false}, 0.1);
  EXPECT_FALSE(spending.why_not({470, 0.5}));
  EXPECT_TRUE(spending.why_not({471, 0.1}));
  EXPECT_THAT(spending.why_not({10, 0.51}).value(), HasSubstr("money left ($0.5000)"));
  EXPECT_EQ(spending.spent().requests, 1);
  EXPECT_EQ(spending.spent().tokens, 30);
  EXPECT_EQ(spending.spent().dollars, 0.1);
}

TEST(Spending, NoTryIsPaidForThatIsNotReserved) {
  EXPECT_EQ(within({1000, std::nullopt, std::nullopt}, {}).most_paid_tries, 1);
  EXPECT_EQ(within({std::nullopt, std::nullopt, 1.0}, {}).most_paid_tries, 1);
  EXPECT_EQ(within({std::nullopt, 10, std::nullopt}, {}).most_paid_tries, models::Sampling().most_paid_tries);
}

TEST(Spending, ALimitOfMoneyNeedsAPrice) {
  const Spending limited({std::nullopt, std::nullopt, 1.0}, {}), unlimited({}, {});
  EXPECT_THAT(limited.why_not({10, std::nullopt}).value(), HasSubstr("prices.json"));
  EXPECT_FALSE(unlimited.why_not({10, std::nullopt}));
}

TEST(Spending, WarnsOnceAtEightyPercent) {
  Spending spending({1000, 5, std::nullopt}, {3, 700, 0});
  EXPECT_THAT(spending.warnings(), ElementsAre());
  spending.reserve({100, {}});
  spending.settle({100, {}}, {100, 0, 0, 0, false}, {});
  EXPECT_THAT(spending.warnings(), ElementsAre("80 % of the requests are used up", "80 % of the tokens are used up"));
  EXPECT_THAT(spending.warnings(), ElementsAre());
}

}  // namespace
}  // namespace agent::search
