#include "sandbox/cpu/memory/grid_accesses.h"

#include <gtest/gtest.h>

#include <string>

namespace sandbox::cpu::memory {
namespace {
constexpr size_t kData = 0, kFlag = 64;  // offsets in the buffer

// Three blocks and a buffer of 128 bytes.
class GridAccessesTest : public testing::Test {
 protected:
  GridAccessesTest() { accesses_.begin_launch({128}, 3); }

  // "" or "block 0 wrote at 7"
  std::string conflict(GridAccesses::Access access) {
    access.site = ++site_;
    const auto found = accesses_.access(access);
    if (!found) return "";
    return "block " + std::to_string(found->block) + (found->wrote ? " wrote at " : " read at ") +
           std::to_string(found->site);
  }
  std::string read(int64_t block, size_t offset = kData, size_t bytes = 4) {
    return conflict({0, offset, bytes, true, false, false, block, 0, 0});
  }
  std::string write(int64_t block, size_t offset = kData, size_t bytes = 4, unsigned warp = 0) {
    return conflict({0, offset, bytes, false, true, false, block, warp, 0});
  }
  std::string poll(int64_t block) { return conflict({0, kFlag, 4, true, false, true, block, 0, 0}); }
  std::string raise(int64_t block) { return conflict({0, kFlag, 4, false, true, true, block, 0, 0}); }
  std::string add(int64_t block) { return conflict({0, kFlag, 4, true, true, true, block, 0, 0}); }

  GridAccesses accesses_;
  uint32_t site_ = 0;
};

TEST_F(GridAccessesTest, BlocksDoNotKnowOfEachOther) {
  EXPECT_EQ(write(0), "");
  EXPECT_EQ(read(0), "");
  EXPECT_EQ(read(1), "block 0 wrote at 1");
  EXPECT_EQ(write(2), "block 0 wrote at 1");
  EXPECT_EQ(read(1, 8), "");
  EXPECT_EQ(read(2, 8), "");
  EXPECT_EQ(write(0, 8), "block 1 read at 5");
}

TEST_F(GridAccessesTest, TheBarrierOfTheGridOrdersAll) {
  EXPECT_EQ(write(0), "");
  accesses_.meet_all();
  EXPECT_EQ(read(1), "");
  EXPECT_EQ(write(2), "block 1 read at 2");
  accesses_.meet_all();
  EXPECT_EQ(write(0), "");
}

TEST_F(GridAccessesTest, ABarrierOfSomeOrdersThose) {
  EXPECT_EQ(write(0), "");
  accesses_.meet(0, 2);
  EXPECT_EQ(read(1), "");
  EXPECT_EQ(read(2), "block 0 wrote at 1");
}

TEST_F(GridAccessesTest, AFenceAndAFlagOrder) {
  EXPECT_EQ(write(0), "");
  accesses_.meet(0, 1);
  accesses_.fence(0, 0, false);
  EXPECT_EQ(raise(0), "");
  EXPECT_EQ(read(1), "block 0 wrote at 1");  // which has not looked
  EXPECT_EQ(poll(1), "");
  EXPECT_EQ(read(1), "");
  // Nor what comes later.
  accesses_.meet(0, 1);
  EXPECT_EQ(write(0, 16), "");
  EXPECT_EQ(poll(1), "");
  EXPECT_EQ(read(1, 16), "block 0 wrote at 6");
}

TEST_F(GridAccessesTest, AFlagWithoutAFenceOrdersNothing) {
  EXPECT_EQ(write(0), "");
  EXPECT_EQ(raise(0), "");
  EXPECT_EQ(poll(1), "");
  EXPECT_EQ(read(1), "block 0 wrote at 1");
}

TEST_F(GridAccessesTest, AFenceCoversItsWarpAndEarlierPhases) {
  EXPECT_EQ(write(0, 0, 4, 5), "");
  accesses_.meet(0, 1);
  EXPECT_EQ(write(0, 4, 4, 1), "");
  EXPECT_EQ(write(0, 8, 4, 2), "");
  accesses_.fence(0, 1, false);
  EXPECT_EQ(raise(0), "");
  EXPECT_EQ(poll(1), "");
  EXPECT_EQ(read(1, 0), "");
  EXPECT_EQ(read(1, 4), "");
  EXPECT_EQ(read(1, 8), "block 0 wrote at 3");
  accesses_.fence(0, 1, true);
  EXPECT_EQ(raise(0), "");
  EXPECT_EQ(poll(2), "");
  EXPECT_EQ(read(2, 8), "");
}

TEST_F(GridAccessesTest, WhatABlockHasLearnedItTellsOn) {
  EXPECT_EQ(write(0), "");
  accesses_.fence(0, 0, false);
  EXPECT_EQ(add(0), "");
  EXPECT_EQ(add(1), "");
  accesses_.fence(1, 0, false);
  EXPECT_EQ(add(1), "");
  EXPECT_EQ(add(2), "");
  EXPECT_EQ(write(2), "");
}

TEST_F(GridAccessesTest, BytesOfAWordAreApart) {
  EXPECT_EQ(write(0, 0, 2), "");
  EXPECT_EQ(write(1, 2, 2), "");
  EXPECT_EQ(read(2, 1, 1), "block 0 wrote at 1");
  EXPECT_EQ(read(2, 2, 1), "block 1 wrote at 2");
  EXPECT_EQ(read(0, 1, 1), "");
}

TEST_F(GridAccessesTest, LaunchesAreOrdered) {
  EXPECT_EQ(write(0), "");
  accesses_.begin_launch({128}, 2);
  EXPECT_EQ(read(1), "");
}

}  // namespace
}  // namespace sandbox::cpu::memory
