#include "agent/search/budget.h"

#include <gtest/gtest.h>

namespace agent::search {
namespace {

class Shares : public testing::Test {
 protected:
  double now_ = 1000;
  Budget budget_{{100, 120.0}, 0, 0, nullptr, [this] { return now_; }};
};

// Each ends 6 s early, to confirm what it found.
TEST_F(Shares, EndOneAfterTheOther) {
  {
    const BudgetShare first(budget_, "a", budget_.next_share(3));
    now_ += 33;
    EXPECT_FALSE(first.time_used_up());
    now_ += 1;
    EXPECT_EQ(first.time_used_up(), "its share of the time is used up");
    now_ += 6;
  }
  const BudgetShare second(budget_, "b", budget_.next_share(2));
  now_ += 33;
  EXPECT_FALSE(second.time_used_up());
  now_ += 1;
  EXPECT_TRUE(second.time_used_up());
}

TEST_F(Shares, LeaveTheTimeThatOthersNeededToConfirm) {
  {
    const BudgetShare first(budget_, "a", {{}, 50.0});
    now_ += 60;
  }
  {
    const BudgetShare second(budget_, "b", budget_.next_share(2));  // (6 + 10) / 2 s before its 30 s are over
    now_ += 21;
    EXPECT_FALSE(second.time_used_up());
    now_ += 1;
    EXPECT_TRUE(second.time_used_up());
    now_ += 30;
  }
  EXPECT_EQ(budget_.next_share(2).to_end, 3);  // of 4 s. (8 + 30) / 2 s would be more
  const BudgetShare last(budget_, "c", budget_.next_share(1));
  now_ += 7;
  EXPECT_FALSE(last.time_used_up());
  now_ += 1;
  EXPECT_EQ(last.time_used_up(), "the time is used up");
}

TEST_F(Shares, EndBehindAFewAttempts) {
  BudgetShare share(budget_, "a", budget_.next_share(3));
  now_ += 60;
  for (int i = 0; i < 5; ++i) {
    share.attempt_begun();
    EXPECT_FALSE(share.time_used_up());
    share.charge_attempt();
    share.attempt_over();
  }
  share.attempt_begun();
  EXPECT_EQ(share.time_used_up(), "its share of the time is used up");
}

TEST_F(Shares, WaitingForRepliesDoesNotCountUpToHalfAShare) {
  BudgetShare share(budget_, "a", budget_.next_share(3));
  now_ += 39;
  share.waited(10);
  EXPECT_FALSE(share.time_used_up());
  now_ += 5;
  EXPECT_TRUE(share.time_used_up());
  share.waited(100);  // of which 10 are left
  EXPECT_FALSE(share.time_used_up());
  now_ += 10;
  EXPECT_TRUE(share.time_used_up());
}

TEST_F(Shares, WaitingDoesNotExtendTheWhole) {
  BudgetShare share(budget_, "a", budget_.next_share(1));
  now_ += 120;
  share.waited(60);
  EXPECT_EQ(share.time_used_up(), "the time is used up");
  EXPECT_EQ(budget_.left().seconds, 0);
}

TEST_F(Shares, SideBySideHoldTheirAttempts) {
  BudgetShare first(budget_, "a", budget_.next_share(4, 2));
  for (int i = 0; i < 5; ++i) first.charge_attempt();
  EXPECT_EQ(first.attempts_held(), 20);
  const BudgetLeft next = budget_.next_share(3, 2);
  EXPECT_EQ(next.attempts, 25);
  EXPECT_EQ(next.seconds, 60);
  BudgetShare second(budget_, "b", next);
  for (int i = 0; i < 24; ++i) second.attempt_begun();
  EXPECT_FALSE(second.attempts_used_up());
  second.attempt_begun();
  EXPECT_EQ(second.attempts_used_up(), "its share of the attempts is used up");
  EXPECT_FALSE(second.all_attempts_used_up());
  EXPECT_FALSE(first.attempts_used_up());
  for (int i = 0; i < 70; ++i) second.attempt_begun();
  EXPECT_EQ(first.attempts_used_up(), "all attempts are used up");
  second.attempt_over();
  EXPECT_FALSE(first.attempts_used_up());
}

}  // namespace
}  // namespace agent::search
