#include "sandbox/cpu/runtime/block_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace sandbox::cpu::runtime {
namespace {

std::vector<int64_t> blocks_of(int64_t count, Order order, uint64_t seed = 7) {
  std::vector<int64_t> blocks;
  BlockOrder source(count, order, seed);
  while (const auto block = source.next()) blocks.push_back(*block);
  return blocks;
}
// How many blocks are not followed by their neighbour.
int64_t breaks(const std::vector<int64_t>& blocks) {
  int64_t count = 0;
  for (size_t i = 1; i < blocks.size(); ++i) count += blocks[i] != blocks[i - 1] + 1;
  return count;
}

TEST(BlockOrder, RunsEveryBlockOnce) {
  for (const Order order : {Order::forward, Order::reverse, Order::seeded, Order::timed}) {
    for (const int64_t count : {int64_t{1}, int64_t{2}, int64_t{15}, int64_t{17}, int64_t{5000}}) {
      std::vector<int64_t> expected(static_cast<size_t>(count));
      std::iota(expected.begin(), expected.end(), 0);
      std::vector<int64_t> blocks = blocks_of(count, order);
      std::sort(blocks.begin(), blocks.end());
      EXPECT_EQ(blocks, expected) << count;
    }
  }
}

TEST(BlockOrder, IsWhatItsNameSays) {
  EXPECT_EQ(blocks_of(4, Order::forward), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(blocks_of(4, Order::reverse), (std::vector<int64_t>{3, 2, 1, 0}));
  EXPECT_GT(breaks(blocks_of(1000, Order::seeded)), 900);
  EXPECT_LE(breaks(blocks_of(1000, Order::timed)), 15);  // neighbours stay together
  for (const Order order : {Order::seeded, Order::timed}) {
    EXPECT_NE(blocks_of(1000, order, 7), blocks_of(1000, order, 8));
    EXPECT_EQ(blocks_of(1000, order, 7), blocks_of(1000, order, 7));
  }
}

// Nobody waits for the end of it, but counting must not overflow.
TEST(BlockOrder, TakesTheLargestGrid) {
  constexpr int64_t kLargest = int64_t{2147483647} * 65535 * 65535;
  for (const Order order : {Order::forward, Order::reverse, Order::seeded, Order::timed}) {
    BlockOrder blocks(kLargest, order, 7);
    const auto first = blocks.next();
    ASSERT_TRUE(first);
    EXPECT_GE(*first, 0);
    EXPECT_LT(*first, kLargest);
  }
}

}  // namespace
}  // namespace sandbox::cpu::runtime
