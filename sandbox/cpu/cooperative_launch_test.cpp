// Cooperative launches, whose blocks wait for each other: barriers of the grid, those that kernels make themselves, and
// what the checking build says when they are missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu {
namespace {
using runtime::Order;
using test::Device;
using testing::AllOf;
using testing::HasSubstr;

constexpr Order kOrders[] = {Order::forward, Order::reverse, Order::seeded};

// k(float* data, float* sums, unsigned* count), with `meet` between the sums of blocks and their sum.
std::string reduction(const std::string& meet) {
  return R"(#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ void hand_made(unsigned* count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (*(volatile unsigned*)count % gridDim.x != 0) {}
    __threadfence();
  }
  __syncthreads();
}
__device__ unsigned acquired(unsigned* at) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
extern "C" __global__ void k(float* data, float* sums, unsigned* count) {
  __shared__ float part[64];
  const int t = threadIdx.x, n = gridDim.x;
  part[t] = data[blockIdx.x * 64 + t];
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
  )" + meet +
         R"(
  float all = 0;
  for (int b = 0; b < n; ++b) all += sums[b];
  data[blockIdx.x * 64 + t] = all;
})";
}

struct Outcome {
  std::optional<Fault> fault;
  bool right = false;
};
Outcome run(const std::string& source, Order order, int64_t blocks = 12) {
  Device device(source, Build::check);
  const auto threads = static_cast<size_t>(blocks) * 64;
  const float* data = device.add_floats("data", threads, 1);
  device.add_floats("sums", static_cast<size_t>(blocks), 0);
  device.add_floats("count", 4, 0);
  Outcome outcome{device.launch_cooperative("k", blocks, 64, order)};
  outcome.right = std::all_of(data, data + threads, [&](float x) { return x == static_cast<float>(threads); });
  return outcome;
}

TEST(CooperativeLaunch, BlocksMeetAtTheBarrierOfTheGrid) {
  for (const Order order : kOrders) {
    const Outcome outcome = run(reduction("cg::this_grid().sync();"), order);
    EXPECT_FALSE(outcome.fault) << outcome.fault->describe();
    EXPECT_TRUE(outcome.right);
  }
}

TEST(CooperativeLaunch, AMissingBarrierIsARaceWithBothLines) {
  for (const Order order : kOrders) {
    const Outcome outcome = run(reduction("__syncthreads();"), order);
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, FaultKind::race);
    // Which of the two comes first depends on the order.
    EXPECT_THAT(outcome.fault->describe(),
                AnyOf(AllOf(HasSubstr("reads offset"), HasSubstr("wrote in line 27"), HasSubstr("line 30")),
                      AllOf(HasSubstr("writes offset"), HasSubstr("read in line 30"), HasSubstr("line 27"))));
    EXPECT_THAT(outcome.fault->message, HasSubstr("with no barrier of the grid in between, nor a fence and a flag"));
  }
}

TEST(CooperativeLaunch, BarriersThatKernelsMakeWork) {
  for (const std::string meet :
       {"hand_made(count);",
        "__threadfence(); __syncthreads(); if (t == 0) { atomicAdd(count, 1u); while "
        "(acquired(count) < n) __nanosleep(20); } __syncthreads();",
        "__syncthreads(); if (t == 0) { __threadfence(); atomicAdd(count, 1u); while (atomicAdd(count, 0u) < n); "
        "__threadfence(); } __syncthreads();",
        // A flag of each block, raised plainly behind a fence.
        "__shared__ unsigned mine; if (t == 0) { __threadfence(); mine = atomicAdd(count, 1u); if (mine == n - 1) { "
        "__threadfence(); ((volatile unsigned*)count)[1] = 1; } while (((volatile unsigned*)count)[1] == 0); } "
        "__syncthreads();"}) {
    for (const Order order : kOrders) {
      const Outcome outcome = run(reduction(meet), order);
      EXPECT_FALSE(outcome.fault) << meet << ": " << outcome.fault->describe();
      EXPECT_TRUE(outcome.right) << meet;
    }
  }
}

TEST(CooperativeLaunch, ABarrierWithoutAFenceIsARace) {
  const Outcome outcome = run(reduction("__syncthreads(); if (t == 0) { atomicAdd(count, 1u); while "
                                        "(*(volatile unsigned*)count < n); } __syncthreads();"),
                              Order::forward);
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->kind, FaultKind::race) << outcome.fault->describe();
  EXPECT_THAT(outcome.fault->message, HasSubstr("wrote in line 27"));
}

// Nobody tells the thread that raises the flag that the others of its block have written.
TEST(CooperativeLaunch, AFenceCoversWhatItsBlockDidBeforeItsLastBarrier) {
  const auto source = [](const std::string& meet) {
    return R"(extern "C" __global__ void k(float* data, float* sums, unsigned* count) {
  const int t = threadIdx.x, n = gridDim.x;
  if (t == 40) sums[blockIdx.x] = 64;
  )" + meet +
           R"(
  if (t == 0) { __threadfence(); atomicAdd(count, 1u); while (*(volatile unsigned*)count < n); }
  __syncthreads();
  float all = 0;
  for (int b = 0; b < n; ++b) all += sums[b];
  data[blockIdx.x * 64 + t] = all;
})";
  };
  EXPECT_FALSE(run(source("__syncthreads();"), Order::forward).fault);
  const Outcome outcome = run(source(""), Order::forward);
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->kind, FaultKind::race) << outcome.fault->describe();
  EXPECT_EQ(outcome.fault->line, 8);
}

TEST(CooperativeLaunch, WhatIsOverwrittenTooEarlyIsARace) {
  const Outcome outcome =
      run(reduction("cg::this_grid().sync(); float sum = 0; for (int b = 0; b < n; ++b) sum += sums[b];\n"
                    "if (t == 0) sums[blockIdx.x] = sum;"),
          Order::forward);
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->kind, FaultKind::race);
  EXPECT_THAT(outcome.fault->describe(), AllOf(HasSubstr("sums"), HasSubstr("line 28"), HasSubstr("line 29")));
}

TEST(CooperativeLaunch, ABarrierThatNeverFillsIsADeadlock) {
  const Outcome spin = run(reduction("__syncthreads(); if (t == 0) { __threadfence(); atomicAdd(count, 1u);\nwhile "
                                     "(*(volatile unsigned*)count < n + 1); } __syncthreads();"),
                           Order::forward);
  ASSERT_TRUE(spin.fault);
  EXPECT_EQ(spin.fault->kind, FaultKind::deadlock) << spin.fault->describe();
  EXPECT_THAT(spin.fault->message, HasSubstr("12 threads wait in loops for what no thread does any more, thread "
                                             "(0,0,0) of block ("));
  EXPECT_EQ(spin.fault->line, 29);
  const Outcome left = run(reduction("if (blockIdx.x == 3) return; cg::this_grid().sync();"), Order::forward);
  ASSERT_TRUE(left.fault);
  EXPECT_EQ(left.fault->kind, FaultKind::deadlock) << left.fault->describe();
  EXPECT_THAT(left.fault->message, HasSubstr("704 of 704 threads wait at the barrier of the grid for 1 blocks, all "
                                             "threads of which have returned"));
  EXPECT_EQ(left.fault->line, 28);
  const Outcome half = run(reduction("if (t < 32) cg::this_grid().sync(); else __syncthreads();"), Order::forward);
  ASSERT_TRUE(half.fault);
  EXPECT_EQ(half.fault->kind, FaultKind::deadlock) << half.fault->describe();
}

TEST(CooperativeLaunch, OthersHaveNoBarrierOfTheGrid) {
  for (const Build build : {Build::fast, Build::check}) {
    Device device(reduction("cg::this_grid().sync();"), build);
    device.add_floats("data", 128, 1);
    device.add_floats("sums", 2);
    device.add_floats("count", 4);
    const auto fault = device.launch("k", 2, 64);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, FaultKind::invalid_launch) << fault->describe();
    EXPECT_THAT(fault->message, HasSubstr("in a launch that is not declared \"cooperative\": true"));
  }
}

TEST(CooperativeLaunch, WhatIsTooMuchIsUnsupported) {
  Device device(R"(extern "C" __global__ void k(float* data) {})", Build::check);
  device.add_floats("data", 1);
  auto fault = device.launch_cooperative("k", 1056, 256);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::unsupported);
  EXPECT_EQ(fault->message, "a cooperative launch of 270336 threads, of which at most 174762 can run at once here");
  fault = device.launch_cooperative("k", 4, 100);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message, "a cooperative launch of blocks that do not have whole warps");
  Device fast(R"(extern "C" __global__ void k(float* data) {})");
  fast.add_floats("data", 1);
  fault = fast.launch_cooperative("k", 4, 64);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message, "a cooperative launch in another build than the checking one");
}

// More threads than a process may map stacks each by itself, each with 200 KiB of shared memory in its block.
TEST(CooperativeLaunch, AWholeGpuMeets) {
  Device device(R"(#include <cooperative_groups.h>
extern "C" __global__ void k(float* data) {
  extern __shared__ float s[];
  float mine[40];
  for (int i = 0; i < 40; ++i) mine[i] = threadIdx.x + i;
  s[threadIdx.x * 50] = blockIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) atomicAdd(data + round, s[threadIdx.x]);
    cooperative_groups::this_grid().sync();
  }
  float sum = 0;
  for (int i = 0; i < 40; ++i) sum += mine[i];
  if (sum != threadIdx.x * 40 + 780 || s[threadIdx.x * 50] != blockIdx.x || data[2] != 8646) data[4] = 1;
})",
                Build::check);
  const float* data = device.add_floats("data", 5);
  const auto fault = device.launch_cooperative("k", 132, 1024, Order::forward, 1, 204800);
  EXPECT_FALSE(fault) << fault->describe();
  EXPECT_EQ(data[0], 8646);
  EXPECT_EQ(data[4], 0);
}

TEST(CooperativeLaunch, AStackThatIsTooDeepIsALimit) {
  Device device(R"(#include <cooperative_groups.h>
__device__ __noinline__ float deep(float* data, int n) {
  volatile float mine[100];
  mine[n % 100] = n;
  return n == 0 ? 0 : deep(data, n - 1) + mine[n % 100];
}
extern "C" __global__ void k(float* data) {
  cooperative_groups::this_grid().sync();
  data[blockIdx.x] = deep(data, (int)data[0]);
})",
                Build::check);
  device.add_floats("data", 132, 900);
  const auto fault = device.launch_cooperative("k", 132, 1024);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::resource_limit) << fault->describe();
  EXPECT_THAT(fault->message, HasSubstr("in a cooperative launch of so many threads it has "));
}

// Warps of a block meet at mbarriers and, without one, at a flag that all blocks raise.
TEST(CooperativeLaunch, AFlagOfTheGridOrdersSharedMemoryToo) {
  const auto source = [](const std::string& fence) {
    return R"(#include <cooperative_groups.h>
extern "C" __global__ void k(float* data, float* sums, unsigned* count) {
  __shared__ float part[32];
  const int t = threadIdx.x, n = gridDim.x;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  if (t < 32) {
    part[t] = 2 * n;
    __syncwarp();
    if (t == 0) {
      )" + fence +
           R"(
      atomicAdd(count, 1u);
    }
  } else {
    while (*(volatile unsigned*)count < n) __nanosleep(20);
    __syncwarp();
    data[blockIdx.x * 64 + t] = data[blockIdx.x * 64 + t - 32] = part[t - 32] * 32;
  }
})";
  };
  for (const Order order : kOrders) {
    const Outcome outcome = run(source("__threadfence();"), order);
    EXPECT_FALSE(outcome.fault) << outcome.fault->describe();
    EXPECT_TRUE(outcome.right);
  }
  const Outcome outcome = run(source(""), Order::forward);
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->kind, FaultKind::race) << outcome.fault->describe();
  EXPECT_THAT(outcome.fault->describe(),
              AllOf(HasSubstr("line 16"), HasSubstr("'part'"), HasSubstr("wrote in line 7")));
}

TEST(CooperativeLaunch, MayHaveClustersAndNamedBarriers) {
  const std::string source = R"(#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(float* data, float* sums, unsigned* count) {
  __shared__ float mine, other;
  const int t = threadIdx.x, n = gridDim.x;
  if (t == 0) mine = 64 * (blockIdx.x % 2 + 1);
  cg::this_cluster().sync();
  if (t == 0) {
    other = *cg::this_cluster().map_shared_rank(&mine, cg::this_cluster().block_rank() ^ 1);
    sums[blockIdx.x] = (mine + other) / 3;
  }
  cg::this_cluster().sync();
  if (t < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  cg::this_grid().sync();
  float all = 0;
  for (int b = 0; b < n; ++b) all += sums[b];
  data[blockIdx.x * 64 + t] = all;
})";
  for (const Order order : kOrders) {
    Device device(source, Build::check);
    const float* data = device.add_floats("data", 768, 1);
    device.add_floats("sums", 12);
    device.add_floats("count", 4);
    const auto fault = device.launch_cooperative("k", 12, 64, order, 2);
    EXPECT_FALSE(fault) << fault->describe();
    EXPECT_TRUE(std::all_of(data, data + 768, [](float x) { return x == 768; }));
  }
}

}  // namespace
}  // namespace sandbox::cpu
