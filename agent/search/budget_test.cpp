#include "agent/search/budget.h"

#include <gtest/gtest.h>

namespace agent::search {
namespace {

class Shares : public testing::Test {
 protected:
  double now_ = 1000;
  Budget budget_{{std::nullopt, 120.0}, 0, 0, nullptr, [this] { return now_; }};
};

TEST_F(Shares, EndOneAfterTheOther) {
  budget_.start_share(3);
  now_ += 39;
  EXPECT_FALSE(budget_.time_used_up());
  now_ += 1;
  EXPECT_EQ(budget_.time_used_up(), "its share of the time is used up");
  budget_.start_share(2);
  now_ += 39;
  EXPECT_FALSE(budget_.time_used_up());
}

TEST_F(Shares, WaitingForRepliesDoesNotCountUpToHalfAShare) {
  budget_.start_share(3);
  now_ += 45;
  budget_.waited(10);
  EXPECT_FALSE(budget_.time_used_up());
  now_ += 5;
  EXPECT_TRUE(budget_.time_used_up());
  budget_.waited(100);  // of which 10 are left
  EXPECT_FALSE(budget_.time_used_up());
  now_ += 10;
  EXPECT_TRUE(budget_.time_used_up());
}

TEST_F(Shares, WaitingDoesNotExtendTheWhole) {
  budget_.start_share(1);
  now_ += 120;
  budget_.waited(60);
  EXPECT_EQ(budget_.time_used_up(), "the time is used up");
  EXPECT_EQ(budget_.left().seconds, 0);
}

}  // namespace
}  // namespace agent::search
