#include "agent/search/event_loop.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace agent::search {
namespace {
using std::chrono::milliseconds;

TEST(EventLoop, ServesMessagesInOrder) {
  EventLoop event_loop;
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) event_loop.post([] {});
  });
  other.join();
  std::vector<int> seen;
  for (int i = 0; i < 3; ++i) event_loop.post([&, i] { seen.push_back(i); });
  EXPECT_TRUE(event_loop.wait(milliseconds(0)));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(event_loop.serve());
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(event_loop.wait(milliseconds(1)));
  EXPECT_FALSE(event_loop.serve());
}

TEST(EventLoop, ServesMessagesPostedByMessages) {
  EventLoop event_loop;
  int count = 0;
  std::function<void()> again = [&] {
    if (++count < 5) event_loop.post(again);
  };
  event_loop.post(again);
  while (event_loop.serve()) {
  }
  EXPECT_EQ(count, 5);
}

TEST(EventLoop, AMessageThatThrowsLeavesThoseBehindIt) {
  EventLoop event_loop;
  int count = 0;
  event_loop.post([] { throw std::runtime_error("our failure"); });
  event_loop.post([&] { ++count; });
  EXPECT_THROW(event_loop.serve(), std::runtime_error);
  EXPECT_EQ(count, 0);
  EXPECT_TRUE(event_loop.serve());
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace agent::search
