#include "agent/mailbox.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace agent {
namespace {
using std::chrono::milliseconds;

TEST(Mailbox, ServesWhatThreadsPostInTheirOrder) {
  Mailbox mailbox;
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) mailbox.post([] {});
  });
  other.join();
  std::vector<int> seen;
  for (int i = 0; i < 3; ++i) mailbox.post([&, i] { seen.push_back(i); });
  EXPECT_TRUE(mailbox.wait(milliseconds(0)));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(mailbox.serve());
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(mailbox.wait(milliseconds(1)));
  EXPECT_FALSE(mailbox.serve());
}

TEST(Mailbox, WhatAMessagePostsIsServedToo) {
  Mailbox mailbox;
  int count = 0;
  std::function<void()> again = [&] {
    if (++count < 5) mailbox.post(again);
  };
  mailbox.post(again);
  while (mailbox.serve()) {
  }
  EXPECT_EQ(count, 5);
}

TEST(Mailbox, AMessageThatThrowsLeavesThoseBehindIt) {
  Mailbox mailbox;
  int count = 0;
  mailbox.post([] { throw std::runtime_error("our failure"); });
  mailbox.post([&] { ++count; });
  EXPECT_THROW(mailbox.serve(), std::runtime_error);
  EXPECT_EQ(count, 0);
  EXPECT_TRUE(mailbox.serve());
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace agent
