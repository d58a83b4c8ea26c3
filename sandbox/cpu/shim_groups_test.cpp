// Cooperative groups: blocks, tiles of every size, reductions, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using test::Device;
using testing::HasSubstr;

// Each thread sets bits of wrong[its number], by a block of 8 x 6 x 2 threads.
constexpr const char* kPrelude = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define EXPECT(bit, condition) if (!(condition)) wrong[t] |= 1u << (bit)
)";

void expect_nothing_wrong(const std::string& body, std::array<int64_t, 3> grid = {1, 1, 1}) {
  for (const Build build : {Build::fast, Build::check}) {
    Device device(kPrelude + body, build);
    const float* wrong = device.add_floats("wrong", 96);
    for (const runtime::Order order : {runtime::Order::forward, runtime::Order::seeded}) {
      const auto fault = device.launch("k", grid, {8, 6, 2}, order);
      ASSERT_FALSE(fault) << fault->describe();
      for (int i = 0; i < 96; ++i) {
        unsigned bits;
        std::memcpy(&bits, wrong + i, sizeof bits);
        EXPECT_EQ(bits, 0u) << "thread " << i;
      }
    }
  }
}

TEST(ShimGroups, BlocksAndGridsKnowTheirRanks) {
  expect_nothing_wrong(R"(
    extern "C" __global__ void k(unsigned* wrong) {
      const unsigned t = threadIdx.x + 8 * threadIdx.y + 48 * threadIdx.z;
      cg::thread_block block = cg::this_thread_block();
      EXPECT(0, block.thread_rank() == t && cg::thread_rank(block) == t);
      EXPECT(1, block.size() == 96 && block.num_threads() == 96 && cg::group_size(block) == 96);
      EXPECT(2, block.thread_index().y == threadIdx.y && block.group_index().z == blockIdx.z);
      EXPECT(3, block.dim_threads().y == 6 && block.group_dim().z == 2);
      cg::grid_group grid = cg::this_grid();
      EXPECT(4, grid.size() == 96 * 24 && grid.num_blocks() == 24);
      EXPECT(5, grid.thread_rank() == (blockIdx.x + 2 * blockIdx.y + 6 * blockIdx.z) * 96 + t);
      __shared__ unsigned kept[96];
      kept[t] = t;
      block.sync();
      EXPECT(6, kept[95 - t] == 95 - t);
      cg::sync(block);
      kept[t] = t + 1;
      block.sync();
      EXPECT(7, kept[95 - t] == 96 - t);
    })",
                       {2, 3, 4});
}

class TileTest : public testing::TestWithParam<int> {};

TEST_P(TileTest, ExchangesWithinItself) {
  const std::string size = std::to_string(GetParam());
  expect_nothing_wrong("constexpr unsigned N = " + size + R"(;
    extern "C" __global__ void k(unsigned* wrong) {
      const unsigned t = threadIdx.x + 8 * threadIdx.y + 48 * threadIdx.z, rank = t % N, first = t - rank;
      cg::thread_block block = cg::this_thread_block();
      cg::thread_block_tile<N> tile = cg::tiled_partition<N>(block);
      EXPECT(0, tile.thread_rank() == rank && tile.size() == N && tile.num_threads() == N);
      EXPECT(1, tile.meta_group_rank() == t / N && tile.meta_group_size() == 96 / N);
      EXPECT(2, tile.shfl(t, N - 1) == first + N - 1);
      EXPECT(3, tile.shfl_up(t, 1) == (rank >= 1 ? t - 1 : t));
      EXPECT(4, tile.shfl_down(t, 2) == (rank + 2 < N ? t + 2 : t));
      EXPECT(5, tile.shfl_xor((double)t, N / 2) == first + (rank ^ N / 2) || N == 1);
      struct Pair { float a, b; int c; } pair = {(float)t, 2.0f, (int)rank};
      EXPECT(6, tile.shfl(pair, 0).a == first && tile.shfl(pair, 0).c == 0);
      EXPECT(7, tile.any(rank == N - 1) && !tile.any(t == first + N));
      EXPECT(8, tile.all(t < 96) && (N == 1 || !tile.all(rank > 0)));
      EXPECT(9, tile.ballot(rank == N - 1) == 1u << (N - 1));
      EXPECT(10, tile.match_any(rank / 2) == (N == 1 ? 1u : 3u << (rank & ~1u)));
      int same;
      EXPECT(11, tile.match_all(first, same) == (N == 32 ? ~0u : (1u << N % 32) - 1) && same);
      EXPECT(12, (tile.match_all(t, same) == 0 && !same) || N == 1);
      const float total = N * (float)first + N * (N - 1) / 2;
      EXPECT(13, cg::reduce(tile, (float)t, cg::plus<float>()) == total);
      EXPECT(14, cg::reduce(tile, (double)t, cg::less<double>()) == first);
      EXPECT(15, cg::reduce(tile, (long long)t << 32, cg::greater<long long>()) == (long long)(first + N - 1) << 32);
      EXPECT(16, cg::reduce(tile, 1u << rank, cg::bit_or<unsigned>()) == (N == 32 ? ~0u : (1u << N % 32) - 1));
      EXPECT(17, cg::reduce(tile, ~(1u << rank), cg::bit_and<unsigned>()) == (N == 32 ? 0 : ~0u << N % 32));
      EXPECT(18, cg::reduce(tile, (int)rank, cg::bit_xor<int>()) == (N % 4 == 0 ? 0 : N / 2));
      const int scale = 3;
      auto scaled = [&](int a, int b) { return a + b + (scale - 3); };
      EXPECT(19, cg::reduce(tile, (int)t, scaled) == total);
      auto half = cg::tiled_partition<(N + 1) / 2>(tile);
      EXPECT(20, half.thread_rank() == rank % ((N + 1) / 2) && half.meta_group_rank() == rank / ((N + 1) / 2));
      EXPECT(21, half.meta_group_size() == (N == 1 ? 1 : 2));
      __shared__ unsigned kept[96];
      kept[t] = t;
      tile.sync();
      EXPECT(22, kept[first + (rank + 1) % N] == first + (rank + 1) % N);
      // Tiles that go different ways.
      if (tile.meta_group_rank() % 2 == 0) {
        EXPECT(23, cg::reduce(tile, 1, cg::plus<int>()) == N);
      } else {
        EXPECT(24, tile.shfl_xor(rank, N - 1) == N - 1 - rank);
        cg::sync(tile);
      }
    })");
}

INSTANTIATE_TEST_SUITE_P(Sizes, TileTest, testing::Values(1, 2, 4, 8, 16, 32), testing::PrintToStringParamName());

TEST(ShimGroups, GroupsOfRunTimeSizes) {
  expect_nothing_wrong(R"(
    __device__ unsigned rotate(cg::thread_group group, unsigned* kept, unsigned value) {
      kept[group.thread_rank()] = value;
      group.sync();
      const unsigned next = kept[(group.thread_rank() + 1) % group.size()];
      group.sync();
      return next;
    }
    extern "C" __global__ void k(unsigned* wrong) {
      const unsigned t = threadIdx.x + 8 * threadIdx.y + 48 * threadIdx.z;
      __shared__ unsigned kept[96];
      cg::thread_block block = cg::this_thread_block();
      EXPECT(0, rotate(block, kept, t) == (t + 1) % 96);
      block.sync();
      EXPECT(1, rotate(cg::tiled_partition(block, 8), kept + t / 8 * 8, t) == t / 8 * 8 + (t + 1) % 8);
      block.sync();
      EXPECT(2, rotate(cg::tiled_partition<16>(block), kept + t / 16 * 16, t) == t / 16 * 16 + (t + 1) % 16);
    })");
}

TEST(ShimGroups, LanesThatComeTogether) {
  expect_nothing_wrong(R"(
    extern "C" __global__ void k(unsigned* wrong) {
      const unsigned t = threadIdx.x + 8 * threadIdx.y + 48 * threadIdx.z, lane = t % 32;
      if (lane % 3 == 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        EXPECT(0, g.size() == 11 && g.num_threads() == 11 && g.thread_rank() == lane / 3);
        EXPECT(1, g.shfl(t, 0) == t - lane + 1 && g.shfl(t, 10) == t - lane + 31);
        EXPECT(2, g.shfl_up(lane, 1) == (lane > 1 ? lane - 3 : lane));
        EXPECT(3, g.shfl_down(lane, 2) == (lane < 26 ? lane + 6 : lane));
        EXPECT(4, g.ballot(lane > 27) == 0x600 && g.any(lane == 4) && !g.any(lane == 5) && g.all(1));
        EXPECT(5, g.match_any(lane > 27) == (lane > 27 ? 0x600 : 0x1ff));
        EXPECT(6, cg::reduce(g, (int)lane, cg::plus<int>()) == 176);
        int same;
        EXPECT(7, g.match_all(7, same) == 0x7ff && same && g.meta_group_rank() == 0 && g.meta_group_size() == 1);
        g.sync();
      } else {
        auto g = cg::coalesced_threads();
        EXPECT(8, g.size() == 21 && cg::reduce(g, 1.0f, cg::plus<float>()) == 21);
      }
      auto warp = cg::tiled_partition<32>(cg::this_thread_block());
      auto part = cg::binary_partition(warp, lane < 5);
      EXPECT(9, part.size() == (lane < 5 ? 5 : 27) && part.thread_rank() == (lane < 5 ? lane : lane - 5));
      EXPECT(10, part.meta_group_rank() == (lane < 5) && part.meta_group_size() == 2);
      auto labels = cg::labeled_partition(warp, lane / 12);
      EXPECT(11, labels.size() == (lane < 24 ? 12 : 8) && labels.meta_group_rank() == lane / 12);
      EXPECT(12, labels.meta_group_size() == 3 && labels.shfl(lane, 1) == lane / 12 * 12 + 1);
      auto nested = cg::binary_partition(part, lane % 2 == 0);
      EXPECT(13, nested.size() == (lane < 5 ? 3 - lane % 2 : 13 + lane % 2));
    })");
}

// The last warp has 40 - 32 threads; the lanes that do not exist take no part.
TEST(ShimGroups, ReducesPartialWarpsInAFixedOrder) {
  Device device(std::string(kPrelude) + R"(
    extern "C" __global__ void k(float* out) {
      auto tile = cg::tiled_partition<32>(cg::this_thread_block());
      float value = threadIdx.x % 32 == 0 ? 1e8f : threadIdx.x % 32 == 4 ? -1e8f : 1.0f;
      out[threadIdx.x] = cg::reduce(tile, value, cg::plus<float>());
    })",
                Build::check);
  const float* out = device.add_floats("out", 40);
  const auto fault = device.launch("k", 1, 40, runtime::Order::seeded);
  ASSERT_FALSE(fault) << fault->describe();
  // For eight: (0 + 4) + (2 + 6) and (1 + 5) + (3 + 7).
  for (int i = 32; i < 40; ++i) EXPECT_EQ(out[i], 6);
}

TEST(ShimGroups, MisuseIsReportedAtItsLine) {
  Device device(std::string(kPrelude) + R"(extern "C" __global__ void k(float* out) {
      auto tile = cg::tiled_partition<32>(cg::this_thread_block());
      if (threadIdx.x < 8)
        out[threadIdx.x] = tile.shfl(1.0f, 0);
      else
        out[threadIdx.x] = cg::reduce(tile, 1.0f, cg::plus<float>());
    })",
                Build::check);
  device.add_floats("out", 32);
  const auto fault = device.launch("k", 1, 32);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::warp_misuse) << fault->describe();
  EXPECT_THAT(fault->message, HasSubstr("thread_block_tile::shfl and cooperative_groups::reduce"));
  EXPECT_EQ(fault->line, 11) << fault->describe();
}

TEST(ShimGroups, WhatIsUnavailableIsUnsupportedAtItsLine) {
  struct Refused {
    const char* statement;
    const char* message;
  };
  for (const Refused& refused :
       {Refused{"auto g = cg::tiled_partition<64>(block); g.sync();", "more than 32 threads is unsupported"},
        Refused{"auto token = block.barrier_arrive();", "barrier_arrive is unsupported"}}) {
    const Compilation compilation = test::compile_text(
        std::string(kPrelude) + "extern \"C\" __global__ void k(float* out) {\n  cg::thread_block block;\n  " +
        refused.statement + "\n}");
    const auto* rejected = std::get_if<Rejected>(&compilation);
    ASSERT_NE(rejected, nullptr) << refused.statement;
    EXPECT_EQ(rejected->reason, Rejection::unsupported) << rejected->log;
    EXPECT_THAT(rejected->message, HasSubstr(refused.message)) << rejected->log;
    EXPECT_THAT(rejected->message, HasSubstr("unsupported on the cpu device"));
    EXPECT_EQ(rejected->line, 8) << rejected->log;
  }
}

}  // namespace
}  // namespace sandbox::cpu
