// Kernels that do what they should, in every order of their threads and in both builds.
#include "sandbox/cpu/runtime/module.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::runtime {
namespace {
using test::Device;
constexpr Order kOrders[] = {Order::forward, Order::reverse, Order::seeded, Order::timed};
constexpr Build kBuilds[] = {Build::fast, Build::check};

void expect_no_fault(const std::optional<Fault>& fault) { EXPECT_FALSE(fault) << fault->describe(); }

TEST(Module, AddsVectors) {
  for (const Build build : kBuilds) {
    Device device(R"(
      extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) c[i] = a[i] + b[i];
      })",
                  build);
    EXPECT_EQ(device.module().kernels(), std::vector<std::string>{"add"});
    float* a = device.add_floats("a", 1000);
    device.add_floats("b", 1000, 5);
    const float* c = device.add_floats("c", 1000);
    device.add_argument(1000);
    for (int i = 0; i < 1000; ++i) a[i] = static_cast<float>(i);
    expect_no_fault(device.launch("add", 4, 256));
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(c[i], static_cast<float>(i + 5));
  }
}

constexpr const char* kReduction = R"(
extern "C" __global__ void total(const float* in, float* out) {
  __shared__ float part[BLOCK];
  part[threadIdx.x] = in[blockIdx.x * BLOCK + threadIdx.x];
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    BARRIER;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
)";

TEST(Module, ReducesWithBarriers) {
  for (const Build build : kBuilds) {
    for (const Order order : kOrders) {
      Device device(std::string("#define BARRIER __syncthreads()\n") + kReduction, build, {{"BLOCK", 256}});
      float* in = device.add_floats("in", 1024);
      const float* out = device.add_floats("out", 4);
      for (int i = 0; i < 1024; ++i) in[i] = static_cast<float>(i);
      expect_no_fault(device.launch("total", 4, 256, order));
      for (int b = 0; b < 4; ++b) EXPECT_EQ(out[b], static_cast<float>(256 * 256 * b + 255 * 128));
    }
  }
}

TEST(Module, MultipliesTiles) {
  constexpr const char* kSource = R"(
    extern "C" __global__ void gemm(const float* a, const float* b, float* c, int n) {
      __shared__ float left[16][16], right[16][17];
      int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
      float sum = 0;
      for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
      }
      c[row * n + column] = sum;
    })";
  for (const Build build : kBuilds) {
    for (const Order order : kOrders) {
      Device device(kSource, build);
      constexpr int n = 48;
      float* a = device.add_floats("a", n * n);
      float* b = device.add_floats("b", n * n);
      const float* c = device.add_floats("c", n * n);
      device.add_argument(n);
      for (int i = 0; i < n * n; ++i) {
        a[i] = static_cast<float>(i % 7);
        b[i] = static_cast<float>(i % 5);
      }
      expect_no_fault(device.launch("gemm", {3, 3, 1}, {16, 16, 1}, order));
      for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
          float expected = 0;
          for (int k = 0; k < n; ++k) expected += a[row * n + k] * b[k * n + column];
          ASSERT_EQ(c[row * n + column], expected) << row << "," << column;
        }
      }
    }
  }
}

TEST(Module, NamesOfDynamicSharedMemoryAreOnePlace) {
  for (const Build build : kBuilds) {
    Device device(R"(
      extern __shared__ float outside[];
      __device__ float first() { return outside[0]; }
      extern "C" __global__ void k(float* out) {
        extern __shared__ __align__(16) float inside[];
        extern __shared__ int words[][2];
        if (threadIdx.x == 0) inside[0] = 2;
        __syncthreads();
        out[threadIdx.x] = first() + (words[0][0] == 0x40000000);
      })",
                  build);
    const float* out = device.add_floats("out", 64);
    expect_no_fault(device.launch("k", 1, 64, Order::reverse, 16));
    EXPECT_EQ(out[63], 3);
  }
}

TEST(Module, WarpsExchangeWithinTheirMasksAndWithoutLanesThatReturned) {
  for (const Build build : kBuilds) {
    for (const Order order : kOrders) {
      Device device(R"(
        extern "C" __global__ void k(float* out) {
          if (threadIdx.x >= 48) return;
          float v = threadIdx.x;
          unsigned half = threadIdx.x % 32 < 16 ? 0xffff : 0xffff0000;
          for (int s = 8; s > 0; s /= 2) v += __shfl_xor_sync(half, v, s);
          if (threadIdx.x >= 32 && threadIdx.x % 2) v += 0.5f;
          out[threadIdx.x] = v;
        })",
                    build);
      const float* out = device.add_floats("out", 64);
      expect_no_fault(device.launch("k", 1, 64, order));
      EXPECT_EQ(out[3], 120);
      EXPECT_EQ(out[20], 376);
      EXPECT_EQ(out[33], 632.5f);
      EXPECT_EQ(out[50], 0);
    }
  }
}

TEST(Module, SharedMemoryIsPoisonedForEveryBlock) {
  Device device(R"(
    extern "C" __global__ void k(float* out) {
      __shared__ unsigned char kept[64];
      out[blockIdx.x] = kept[5];
      kept[5] = 1;
    })");
  const float* out = device.add_floats("out", 2);
  device.module().set_shared_poison(0xA5);
  expect_no_fault(device.launch("k", 2, 1));
  EXPECT_EQ(out[0], 0xA5);
  EXPECT_EQ(out[1], 0xA5);
}

TEST(Module, RefusesLaunchesThatDoNotFitTheKernel) {
  Device device(
      R"(extern "C" __global__ void k(float* out, int n) { extern __shared__ float s[]; s[0] = n; out[0] = s[0]; })");
  device.add_floats("out", 1);
  EXPECT_EQ(device.launch("k", 1, 1)->message, "the plan passes 1 arguments, the kernel takes 2");
  device.add_argument(1);
  EXPECT_EQ(device.launch("missing", 1, 1)->kind, FaultKind::invalid_launch);
  EXPECT_EQ(device.launch("k", 1, 1025)->message, "more than 1024 threads per block");
  EXPECT_EQ(device.launch("k", 1, 1, Order::forward, 233473)->kind, FaultKind::invalid_launch);
  expect_no_fault(device.launch("k", 1, 1, Order::forward, 233472));
}

TEST(Module, LoadsManyOneAfterTheOther) {
  for (int i = 0; i < 8; ++i) {
    Device device("extern \"C\" __global__ void k(float* out) { out[0] = VALUE; }", Build::fast, {{"VALUE", i}});
    const float* out = device.add_floats("out", 1);
    expect_no_fault(device.launch("k", 1, 1));
    EXPECT_EQ(out[0], static_cast<float>(i));
  }
}

// Launches, blocks and threads find nothing of each other on their stacks.
TEST(Module, LeavesNothingOnStacks) {
  constexpr const char* kCounts = R"(
    static __noinline__ __device__ unsigned count() {
      volatile unsigned left[3000];
      const unsigned seen = left[5] == 0x12345678 ? left[6] : 0;
      left[5] = 0x12345678;
      left[6] = seen + 1;
      return seen;
    }
    extern "C" __global__ void k(float* y) {
      const unsigned seen = count();
      __syncthreads();
      y[threadIdx.x] = seen;
    })";
  for (const Build build : kBuilds) {
    Device device(kCounts, build);
    const float* y = device.add_floats("y", 64, 7);
    for (int launch = 0; launch < 3; ++launch) {
      expect_no_fault(device.launch("k", 1, 64));
      for (int t = 0; t < 64; ++t) ASSERT_EQ(y[t], 0) << launch;
    }
  }
}

// A kernel cannot tell one build from the other by what lies where, or by what nobody set.
TEST(Module, BothBuildsLookAlike) {
  constexpr const char* kAsks = R"(
    template <int n> __device__ long place() { __shared__ char s[n]; s[threadIdx.x] = n; return (long)s; }
    extern "C" __global__ void k(float* y) {
      __shared__ float a[3];
      __shared__ double b;
      extern __shared__ char d[];
      a[threadIdx.x] = b = 0;
      struct Both { char c; float f; };
      Both both;
      float unset;
      int number;
      bool flag;
      unsigned many[100];
      y[0] = (long)&b - (long)a;
      y[1] = place<5>() - (long)a;
      y[2] = place<40>() - (long)a;
      y[3] = (long)d - (long)a;
      y[4] = unset;
      y[5] = number;
      y[6] = flag;
      y[7] = many[threadIdx.x + 7];
      y[8] = both.f;
    })";
  constexpr int kAsked = 9;
  std::array<std::vector<float>, 2> seen[2];  // by build and fill
  for (const Build build : kBuilds) {
    Device device(kAsks, build);
    EXPECT_TRUE(device.module().has_filled_locals());
    const float* y = device.add_floats("y", kAsked, 7);
    for (const bool second : {false, true}) {
      Module::fill_locals(uint64_t{0x8541} << 32, second);
      expect_no_fault(device.launch("k", 1, 1));
      seen[build == Build::check][second].assign(y, y + kAsked);
    }
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0][0][5], 5);  // a small number
  for (int i = 4; i < kAsked; ++i) EXPECT_NE(seen[0][0][static_cast<size_t>(i)], seen[0][1][static_cast<size_t>(i)]);
}

TEST(Module, KnowsThatVariablesAreSetBeforeTheyAreRead) {
  Device device(R"(extern "C" __global__ void k(float* y) { float sum; sum = y[0]; y[0] = 2 * sum; })");
  EXPECT_FALSE(device.module().has_filled_locals());
}

// As many blocks as there are, each in some place of the order.
TEST(Module, RunsBlocksInTheOrderAskedFor) {
  Device device(R"(extern "C" __global__ void k(float* y) { y[1 + blockIdx.x] = y[0]++; })");
  float* y = device.add_floats("y", 101);
  const auto place = [&](Order order, int block) {
    y[0] = 0;
    expect_no_fault(device.launch("k", 100, 1, order));
    EXPECT_EQ(std::accumulate(y + 1, y + 101, 0.0f), 4950);
    return y[1 + block];
  };
  EXPECT_EQ(place(Order::forward, 99), 99);
  EXPECT_EQ(place(Order::reverse, 99), 0);
  place(Order::seeded, 0);
  EXPECT_NE(std::vector<float>(y + 1, y + 101), [] {
    std::vector<float> forward(100);
    std::iota(forward.begin(), forward.end(), 0.0f);
    return forward;
  }());
  EXPECT_EQ(place(Order::timed, 1) - place(Order::timed, 0), 1);  // neighbours
}

}  // namespace
}  // namespace sandbox::cpu::runtime
