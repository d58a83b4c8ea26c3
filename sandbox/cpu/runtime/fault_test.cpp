// Kernels that do what they should not: each gives its own kind of fault, at its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sandbox/cpu/runtime/module.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::runtime {
namespace {
using test::Device;
using testing::HasSubstr;

struct Planted {
  const char* name;
  Build build;
  FaultKind kind;
  int line;        // of the source, 0 when the build does not know lines
  int64_t thread;  // -1: any
  const char* message;
  const char* source;  // kernel k(float* data, int n): 100 floats; one block of 64 threads; 256 bytes of dynamic memory
};

std::ostream& operator<<(std::ostream& out, const Planted& planted) { return out << planted.name; }

class FaultTest : public testing::TestWithParam<Planted> {};

TEST_P(FaultTest, IsReported) {
  const Planted& planted = GetParam();
  Device device(planted.source, planted.build);
  device.add_floats("data", 100, 1);
  device.add_argument(100);
  const std::optional<Fault> fault = device.launch("k", 1, 64, Order::forward, 256);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, planted.kind) << fault->describe();
  EXPECT_THAT(fault->message, HasSubstr(planted.message));
  EXPECT_EQ(fault->kernel, "k");
  EXPECT_EQ(fault->block, (std::array<int64_t, 3>{0, 0, 0}));
  const std::array<int64_t, 3> thread{planted.thread, 0, 0};
  if (planted.thread >= 0) {
    EXPECT_EQ(fault->thread, thread);
  }
  EXPECT_EQ(fault->line.value_or(0), planted.line) << fault->describe();
}

const Planted kPlanted[] = {
    {"global_read_fast", Build::fast, FaultKind::out_of_bounds, 1, -1, "past the end of 'data' (400 bytes)",
     R"(extern "C" __global__ void k(float* data, int n) { data[0] += data[n + 1000 + threadIdx.x]; })"},
    {"global_read", Build::check, FaultKind::out_of_bounds, 3, 36,
     "reads 4 bytes at 0 bytes past the end of 'data' (400 bytes)",
     R"(extern "C" __global__ void k(float* data, int n) {
          int i = threadIdx.x + n - 36;
          float x = data[i];
          if (x == 7) data[0] = x; })"},
    {"global_write", Build::check, FaultKind::out_of_bounds, 2, 0, "writes 4 bytes at 4 bytes before 'data'",
     R"(extern "C" __global__ void k(float* data, int n) {
          data[(int)threadIdx.x - 1] = 0; })"},
    {"below_the_stack", Build::check, FaultKind::out_of_bounds, 4, 0, "reads 4 bytes below its own stack",
     R"(extern "C" __global__ void k(float* data, int n) {
          volatile float mine = n;
          volatile float* below = &mine - 5 * n;
          data[0] = *below; })"},
    {"beside_a_variable", Build::check, FaultKind::out_of_bounds, 3, 0,
     "an access outside of the variable that its address was made from",
     R"(extern "C" __global__ void k(float* data, int n) {
          volatile float mine = n;
          data[0] = *(&mine + 3); })"},
    {"wild_write", Build::check, FaultKind::out_of_bounds, 2, 0,
     "writes 4 bytes at an address that belongs to no buffer",
     R"(extern "C" __global__ void k(float* data, int n) {
          *(float*)64 = 0; })"},
    {"wild_write_fast", Build::fast, FaultKind::out_of_bounds, 1, 0, "an address that belongs to no buffer",
     R"(extern "C" __global__ void k(float* data, int n) { *(volatile float*)64 = 0; })"},
    {"static_shared", Build::check, FaultKind::out_of_bounds, 5, 63, "at offset 256 of __shared__ 'b' (256 bytes)",
     R"(extern "C" __global__ void k(float* data, int n) {
          __shared__ float a[64];
          __shared__ float b[64];
          float* p = b + 1;
          p[threadIdx.x] = a[threadIdx.x] = 1; })"},
    {"dynamic_shared", Build::check, FaultKind::out_of_bounds, 3, 63,
     "writes 4 bytes at offset 256 of dynamic shared memory (256 bytes)",
     R"(extern "C" __global__ void k(float* data, int n) {
          extern __shared__ float s[];
          s[threadIdx.x + 1] = 1; })"},
    {"uninitialised", Build::check, FaultKind::uninitialised, 4, 0,
     "of __shared__ 's' (byte 4 of 256) that no thread has written",
     R"(extern "C" __global__ void k(float* data, int n) {
          __shared__ float s[64];
          s[threadIdx.x] = 1;
          data[threadIdx.x] = s[threadIdx.x + 1]; })"},
    {"uninitialised_vector", Build::check, FaultKind::uninitialised, 4, 0,
     "reads 16 bytes of __shared__ 's' (byte 4 of 1024) that no thread has written",
     R"(extern "C" __global__ void k(float* data, int n) {
          __shared__ float4 s[64];
          s[threadIdx.x].x = 1;
          if (threadIdx.x < 20) ((float4*)data)[threadIdx.x] = s[threadIdx.x]; })"},
    {"missing_barrier", Build::check, FaultKind::race, 5, 1,
     "thread (0,0,0) read in line 5, with no __syncwarp or barrier in between",
     R"(extern "C" __global__ void k(float* data, int n) {
          __shared__ float s[65];
          s[threadIdx.x] = 1; if (threadIdx.x == 0) s[64] = 1;
          __syncthreads();
          s[threadIdx.x] += s[threadIdx.x + 1]; })"},
    {"missing_syncwarp", Build::check, FaultKind::race, 5, 16, "with no __syncwarp or barrier in between",
     R"(extern "C" __global__ void k(float* data, int n) {
          __shared__ volatile float s[64];
          s[threadIdx.x] = 1;
          __syncthreads();
          if (threadIdx.x < 32) { s[threadIdx.x] += s[threadIdx.x + 32]; s[threadIdx.x] += s[threadIdx.x + 16]; }
        })"},
    {"syncwarp_of_one_lane", Build::check, FaultKind::race, 6, -1, "with no __syncwarp or barrier in between",
     R"(extern "C" __global__ void k(float* data, int n) {
          __shared__ float s[64];
          s[threadIdx.x] = 1;
          __all_sync(0xffffffff, 1);
          __syncwarp(1u << threadIdx.x % 32);
          data[threadIdx.x] = s[threadIdx.x ^ 1]; })"},
    {"deadlock", Build::check, FaultKind::deadlock, 4, 0,
     "33 of 64 threads wait in __syncthreads, thread (0,0,0) among them; thread (32,0,0) waits in __shfl_down_sync",
     R"(extern "C" __global__ void k(float* data, int n) {
          if (threadIdx.x > 31 && threadIdx.x < 63)
            data[threadIdx.x] = __shfl_down_sync(0xffffffff, 1.0f, 1);
          else __syncthreads(); })"},
    {"writes_of_two_values", Build::check, FaultKind::race, 3, 1, "which thread (0,0,0) wrote in line 3",
     R"(extern "C" __global__ void k(float* data, int n) {
          __shared__ float last;
          last = threadIdx.x;
          __syncthreads();
          data[threadIdx.x] = last; })"},
    {"kinds_of_barrier", Build::fast, FaultKind::deadlock, 2, 1, "different kinds of __syncthreads",
     R"(extern "C" __global__ void k(float* data, int n) {
          if (threadIdx.x % 2) data[0] = __syncthreads_count(1); else __syncthreads(); })"},
    {"lying_mask", Build::check, FaultKind::warp_misuse, 3, 16,
     "__shfl_xor_sync is called by a lane that its mask leaves out",
     R"(extern "C" __global__ void k(float* data, int n) {
          if (threadIdx.x > 15)
            data[threadIdx.x] = __shfl_xor_sync(0xffff, 1.0f, 1); })"},
    {"mask_of_absent_lanes", Build::check, FaultKind::warp_misuse, 2, 0,
     "waits in __shfl_xor_sync for lanes that never come",
     R"(extern "C" __global__ void k(float* data, int n) {
          if (threadIdx.x < 16) data[threadIdx.x] = __shfl_xor_sync(0xffffffff, 1.0f, 1);
          else if (threadIdx.x < 32) data[threadIdx.x] = __shfl_xor_sync(0xffff0001, 1.0f, 1); })"},
    {"different_operations", Build::fast, FaultKind::warp_misuse, 2, 1,
     "different operations: __syncwarp and __shfl_xor_sync",
     R"(extern "C" __global__ void k(float* data, int n) {
          if (threadIdx.x % 2) data[threadIdx.x] = __shfl_xor_sync(0xffffffff, 1.0f, 1);
          else __syncwarp(); })"},
    {"trap", Build::check, FaultKind::trap, 2, 5, "__trap",
     R"(extern "C" __global__ void k(float* data, int n) {
          if (threadIdx.x == 5) __trap(); })"},
    {"assertion", Build::check, FaultKind::trap, 2, 9, "assertion failed: threadIdx.x < 9",
     R"(extern "C" __global__ void k(float* data, int n) {
          assert(threadIdx.x < 9); })"},
    {"division_by_zero", Build::check, FaultKind::trap, 2, 3, "division by zero",
     R"(extern "C" __global__ void k(float* data, int n) {
          data[threadIdx.x] = n / ((int)threadIdx.x - 3); })"},
    {"misaligned", Build::check, FaultKind::misaligned, 2, 0, "no multiple of 16 bytes: offset 4 of 'data'",
     R"(extern "C" __global__ void k(float* data, int n) {
          float4 v = *(float4*)(data + 1); data[0] = v.x + v.w; })"},
    {"local_array", Build::check, FaultKind::out_of_bounds, 3, 4, "index 4 is outside of the array",
     R"(extern "C" __global__ void k(float* data, int n) {
          float r[4] = {data[0], data[1], data[2], data[3]};
          r[threadIdx.x] = 2; data[0] = r[n % 4]; })"},
    {"recursion", Build::fast, FaultKind::resource_limit, 1, 0, "stack",
     R"(__device__ __noinline__ float deep(float* data, int n) { volatile float kept[16]; kept[n % 16] = n; return deep(data, n + 1) + kept[n % 8]; }
        extern "C" __global__ void k(float* data, int n) { data[0] = deep(data, n); })"},
    {"recursion_checked", Build::check, FaultKind::resource_limit, 1, 0, "stack",
     R"(__device__ __noinline__ float deep(float* data, int n) { volatile float kept = n; return deep(data, n + 1) + kept; } extern "C" __global__ void k(float* data, int n) { data[0] = deep(data, n); })"},
};

INSTANTIATE_TEST_SUITE_P(Planted, FaultTest, testing::ValuesIn(kPlanted),
                         [](const auto& planted) { return planted.param.name; });

TEST(Fault, MissingBarrierGivesAWrongResultInSomeOrder) {
  int wrong = 0;
  for (const Order order : {Order::forward, Order::reverse, Order::seeded}) {
    Device device(R"(
      extern "C" __global__ void k(float* data) {
        __shared__ float s[64];
        s[threadIdx.x] = threadIdx.x;
        data[threadIdx.x] = s[63 - threadIdx.x];
      })");
    const float* data = device.add_floats("data", 64);
    EXPECT_FALSE(device.launch("k", 1, 64, order));
    for (int i = 0; i < 64; ++i) wrong += data[i] == static_cast<float>(63 - i) ? 0 : 1;
  }
  EXPECT_GT(wrong, 64);
}

TEST(Fault, ThreadsThatReturnAreNotWaitedFor) {
  Device device(R"(
    extern "C" __global__ void k(float* data) {
      if (threadIdx.x >= 40) return;
      __syncthreads();
      data[threadIdx.x] = __shfl_xor_sync(0xffffffff, (float)threadIdx.x, 1);
    })",
                Build::check);
  const float* data = device.add_floats("data", 64);
  EXPECT_FALSE(device.launch("k", 1, 64));
  EXPECT_EQ(data[38], 39);
}

// flashinfer's rmsnorm does this: no lane writes before all have read, since the sum holds what they read.
TEST(Fault, AShuffleKeepsAWriteBehindAnEarlierRead) {
  Device device(R"(
    extern "C" __global__ void k(float* data) {
      __shared__ float s[32];
      s[threadIdx.x] = threadIdx.x;
      __syncthreads();
      float sum = s[threadIdx.x];
      for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
      s[0] = sum;
      __syncthreads();
      data[threadIdx.x] = s[0];
    })",
                Build::check);
  const float* data = device.add_floats("data", 32);
  const auto fault = device.launch("k", 1, 32);
  EXPECT_FALSE(fault) << fault->describe();
  EXPECT_EQ(data[31], 496);
}

TEST(Fault, CopiesMayReadTheirPadding) {
  Device device(R"(
    struct Entry { long long index; float value; };
    extern "C" __global__ void k(float* data) {
      __shared__ Entry entries[64];
      entries[threadIdx.x].index = threadIdx.x;
      entries[threadIdx.x].value = 2;
      __syncthreads();
      const Entry other = entries[63 - threadIdx.x];
      data[threadIdx.x] = other.index + other.value;
    })",
                Build::check);
  const float* data = device.add_floats("data", 64);
  const auto fault = device.launch("k", 1, 64);
  EXPECT_FALSE(fault) << fault->describe();
  EXPECT_EQ(data[0], 65);
}

TEST(Fault, ManyThreadsMayRaiseOneFlag) {
  Device device(R"(
    extern "C" __global__ void k(float* data) {
      __shared__ int flag;
      if (threadIdx.x == 0) flag = 0;
      __syncthreads();
      if (threadIdx.x % 3 == 1) flag = 1;
      __syncthreads();
      data[threadIdx.x] = flag;
    })",
                Build::check);
  const float* data = device.add_floats("data", 64);
  const auto fault = device.launch("k", 1, 64);
  EXPECT_FALSE(fault) << fault->describe();
  EXPECT_EQ(data[63], 1);
}

// A thread of the second warp raises a flag that the first one looks at.
std::optional<Fault> fault_of_flag(const std::string& type, const std::string& raise) {
  Device device("extern \"C\" __global__ void k(float* data) {\n __shared__ " + type +
                    " flag;\n if (threadIdx.x == 0) flag = 0;\n __syncthreads();\n" + raise +
                    "\n if (threadIdx.x == 5 && flag) data[0] = 1;\n}",
                Build::check);
  device.add_floats("data", 1);
  return device.launch("k", 1, 64, Order::reverse);
}

TEST(Fault, AFlagIsRaisedForAll) {
  EXPECT_FALSE(fault_of_flag("volatile int", "if (threadIdx.x == 40) flag = 1;"));
  EXPECT_FALSE(fault_of_flag("volatile int", "if (threadIdx.x >= 40) flag = 1;"));
  for (const auto& [type, raise] : {std::pair("int", "if (threadIdx.x == 40) flag = 1;"),
                                    std::pair("volatile int", "if (threadIdx.x == 7) flag = 1;"),
                                    std::pair("volatile int", "if (threadIdx.x >= 40) flag = flag + 1;")}) {
    const auto fault = fault_of_flag(type, raise);
    ASSERT_TRUE(fault) << type << " " << raise;
    EXPECT_EQ(fault->kind, FaultKind::race) << fault->describe();
  }
}

TEST(Fault, AtomicsAndSyncwarpOrderWhatTheyShould) {
  Device device(R"(
    extern "C" __global__ void k(float* data) {
      __shared__ int count;
      __shared__ float s[64];
      if (threadIdx.x == 0) count = 0;
      __syncthreads();
      atomicAdd(&count, 1);
      s[threadIdx.x] = 1;
      __syncwarp();
      data[threadIdx.x] = s[threadIdx.x ^ 1];
      __syncthreads();
      if (threadIdx.x == 0) data[0] = count;
    })",
                Build::check);
  const float* data = device.add_floats("data", 64);
  const auto fault = device.launch("k", 1, 64);
  EXPECT_FALSE(fault) << fault->describe();
  EXPECT_EQ(data[0], 64);
}

TEST(Fault, SyncwarpOrdersWhatItsLanesKnow) {
  Device device(R"(
    extern "C" __global__ void k(float* data) {
      __shared__ float s[32];
      s[threadIdx.x] = threadIdx.x;
      if (threadIdx.x < 16) __syncwarp(0xffff);
      if (threadIdx.x >= 15) __syncwarp(0xffff8000);
      data[threadIdx.x] = threadIdx.x >= 15 ? s[31 - threadIdx.x] : s[15 - threadIdx.x];
    })",
                Build::check);
  const float* data = device.add_floats("data", 32);
  const auto fault = device.launch("k", 1, 32);
  EXPECT_FALSE(fault) << fault->describe();
  EXPECT_EQ(data[31], 0);
  EXPECT_EQ(data[0], 15);
}

// The fault of four blocks of a thread each, by what they do with y[0] after y[1 + block] = 1.
std::optional<Fault> fault_between_blocks(const std::string& what) {
  Device device("extern \"C\" __global__ void k(float* y) {\n y[1 + blockIdx.x] = 1;\n" + what + "}", Build::check);
  device.add_floats("y", 16, 0);
  return device.launch("k", 4, 1);
}

TEST(RacesBetweenBlocks, AreReportedAtTheReader) {
  const auto adds = fault_between_blocks("y[0] += 1;\n");
  ASSERT_TRUE(adds);
  EXPECT_EQ(adds->kind, FaultKind::race);
  EXPECT_EQ(adds->line, 3);
  EXPECT_THAT(adds->message, HasSubstr("reads offset 0 of 'y' (64 bytes), which another block of this launch wrote"));
  for (const char* what :
       {"if (blockIdx.x == 3) y[6] = y[2];\n", "atomicAdd(y, 1.0f);\n if (blockIdx.x == 3) y[8] = y[2];\n",
        "__threadfence();\n y[0] += 1;\n __threadfence();\n", "((unsigned char*)y)[60] += 1;\n",
        "__threadfence_block();\n if (atomicAdd(y, 1.0f) == 3) y[8] = y[1];\n",
        "if (atomicAdd(y, 1.0f) == 3) y[8] = ((volatile float*)y)[1];\n",
        "if (*(volatile float*)y == 0) y[8] += 1;\n"}) {
    const auto fault = fault_between_blocks(what);
    ASSERT_TRUE(fault) << what;
    EXPECT_EQ(fault->kind, FaultKind::race) << what;
  }
}

TEST(RacesBetweenBlocks, AreReportedAtAWriterThatLosesAnUpdate) {
  const auto adds = fault_between_blocks("*(volatile float*)y += 1;\n");
  ASSERT_TRUE(adds);
  EXPECT_EQ(adds->kind, FaultKind::race);
  EXPECT_EQ(adds->line, 3);
  EXPECT_EQ(adds->block, (std::array<int64_t, 3>{1, 0, 0}));
  EXPECT_THAT(adds->message, HasSubstr("writes offset 0 of 'y' (64 bytes), which another block of this launch wrote"));
}

// Through the read-only cache, a block may not see even its own writes.
TEST(RacesBetweenBlocks, AreReadsThroughTheReadOnlyCache) {
  for (const char* what :
       {"if (blockIdx.x == 3) y[8] = __ldg(y + 4);\n",
        "__threadfence();\n if (atomicAdd(y, 1.0f) == 3) y[8] = __ldg(y + 1);\n",
        "if (atomicAdd(y, 1.0f) == 3) y[8] = __ldg(y);\n",
        "asm volatile(\"ld.global.nc.f32 %0, [%1];\" : \"=f\"(y[8 + blockIdx.x]) : \"l\"(y + 1 + blockIdx.x));\n"}) {
    const auto fault = fault_between_blocks(what);
    ASSERT_TRUE(fault) << what;
    EXPECT_EQ(fault->kind, FaultKind::race) << what;
    EXPECT_THAT(fault->message, HasSubstr("through the read-only cache (__ldg, ld.global.nc), which may not have"))
        << what;
  }
  // It has what an earlier launch wrote.
  Device device(R"(extern "C" __global__ void k(float* y) { y[blockIdx.x] = __ldg(y + 4 + blockIdx.x); }
                   extern "C" __global__ void l(float* y) { y[4 + blockIdx.x] = __ldg(y + 3 - blockIdx.x); })",
                Build::check);
  device.add_floats("y", 8, 1);
  EXPECT_FALSE(device.launch("k", 4, 1));
  EXPECT_FALSE(device.launch("l", 4, 1));
}

// An update in the scope of a block is none for other blocks.
TEST(RacesBetweenBlocks, AreUpdatesInTheScopeOfABlock) {
  for (const char* what :
       {"atomicAdd_block(y, 1.0f);\n", "atomicMax_block((int*)y, 3);\n", "atomicCAS_block((unsigned*)y, 0u, 1u);\n",
        "atomicExch_block((int*)y, 1 + (int)blockIdx.x);\n",
        "while (atomicExch_block((int*)y + 9, 1)) {}\n __threadfence();\n atomicAdd(y, 1.0f);\n"
        " __threadfence();\n atomicExch_block((int*)y + 9, 0);\n",
        "asm volatile(\"{ .reg .b32 r; atom.cta.global.exch.b32 r, [%0], %1; }\" :: \"l\"(y), \"r\"(blockIdx.x + "
        "1));\n",
        "if (blockIdx.x % 2) atomicAdd(y, 1.0f);\n else atomicAdd_block(y, 1.0f);\n"}) {
    const auto fault = fault_between_blocks(what);
    ASSERT_TRUE(fault) << what;
    EXPECT_EQ(fault->kind, FaultKind::race) << what;
  }
  for (const char* what :
       {"atomicAdd_block(y + 8 + blockIdx.x, 1.0f);\n", "atomicAdd_system(y, 1.0f);\n",
        "atomicExch_block((int*)y + 8 + blockIdx.x, 1);\n", "atomicExch_block((int*)y, 1);\n",
        "atomicExch((int*)y, 1 + (int)blockIdx.x);\n", "__shared__ int s[1];\n atomicExch_block(s, 1);\n",
        "__shared__ int s[1];\n s[0] = 0;\n __syncthreads();\n atomicAdd_block(s, 1);\n"}) {
    const auto fault = fault_between_blocks(what);
    EXPECT_FALSE(fault) << what << fault->describe();
  }
}

TEST(RacesBetweenBlocks, AreNoneWhereSomethingOrdersThem) {
  for (const char* what : {"y[8 + blockIdx.x] = y[1 + blockIdx.x];\n", "atomicAdd(y, 1.0f);\n",
                           "__threadfence();\n if (atomicAdd(y, 1.0f) == 3) y[8] = y[1] + y[2] + y[3] + y[4];\n",
                           "while (atomicExch((int*)y + 9, 1)) {}\n __threadfence();\n y[0] += 1;\n"
                           " __threadfence();\n atomicExch((int*)y + 9, 0);\n",
                           "__threadfence();\n volatile float* flags = y + 8;\n flags[blockIdx.x] = 1;\n"
                           " if (blockIdx.x == 3 && flags[0] == 1) y[15] = y[1];\n",
                           "__threadfence();\n y[8 + blockIdx.x] = 1;\n"
                           " if (blockIdx.x == 3 && ((volatile float*)y)[8] == 1) y[15] = y[1];\n",
                           "((volatile unsigned char*)y)[60] = 1;\n"}) {
    const auto fault = fault_between_blocks(what);
    EXPECT_FALSE(fault) << what << fault->describe();
  }
  // A launch sees what those before it wrote.
  Device device(R"(extern "C" __global__ void k(float* y) { y[blockIdx.x] = y[3 - blockIdx.x]; })", Build::check);
  device.add_floats("y", 4, 1);
  EXPECT_TRUE(device.launch("k", 4, 1));
  Device other(R"(extern "C" __global__ void k(float* y) { y[blockIdx.x] = y[4 + blockIdx.x]; }
                  extern "C" __global__ void l(float* y) { y[4 + blockIdx.x] = y[3 - blockIdx.x]; })",
               Build::check);
  other.add_floats("y", 8, 1);
  EXPECT_FALSE(other.launch("k", 4, 1));
  EXPECT_FALSE(other.launch("l", 4, 1));
}

// The blocks of a cluster meet, and need no fence for what they leave each other in global memory.
TEST(RacesBetweenBlocks, AreNoneBehindABarrierOfTheirCluster) {
  Device device(R"(
      #include <cooperative_groups.h>
      extern "C" __global__ void k(float* y) {
        const auto cluster = cooperative_groups::this_cluster();
        if (threadIdx.x == 0) y[blockIdx.x] = 1;
        cluster.sync();
        if (cluster.block_rank() == 0 && threadIdx.x == 0) y[8 + blockIdx.x] = y[blockIdx.x + 1];
      })",
                Build::check);
  device.add_floats("y", 16, 0);
  for (const Order order : {Order::forward, Order::seeded}) {
    const auto fault = device.launch_clusters("k", 6, 32, 2, order);
    EXPECT_FALSE(fault) << fault->describe();
  }
}

// The fast build looks behind it once the launch is over, and knows no line.
TEST(DynamicShared, IsNotWrittenBehindInTheFastBuild) {
  const auto writes = [](int floats) {
    Device device(R"(
        extern "C" __global__ void k(int n) {
          extern __shared__ float s[];
          for (int i = 0; i < n; ++i) s[i] = 1;
        })",
                  Build::fast);
    device.add_argument(floats);
    return device.launch("k", 1, 1, Order::forward, 256);
  };
  EXPECT_FALSE(writes(64));
  const auto fault = writes(66);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->describe(), "out_of_bounds in kernel k: writes at offset 256 of dynamic shared memory (256 bytes)");
}

// Threads of a block, and of blocks that run together, go on between a read and the exchange that relies on it.
TEST(Contention, AnExchangeFailsAsOthersComeBefore) {
  Device device(R"(
      extern "C" __global__ void once(int* data, int n) {
        for (int i = 0; i < n; ++i) {
          const int seen = *(volatile int*)data;
          atomicCAS(data, seen, seen + 1);
        }
      }
      extern "C" __global__ void until(int* data, int n) {
        for (int i = 0; i < n; ++i) {
          int seen = *(volatile int*)data, before;
          do {
            before = seen;
            seen = atomicCAS(data, before, before + 1);
          } while (seen != before);
        }
      })",
                Build::check);
  float* const data = device.add_floats("data", 1, 0);
  device.add_argument(20);
  constexpr int kBlocks = 7;  // the last two come alone
  ASSERT_FALSE(device.launch("once", kBlocks, 1, Order::seeded));
  const auto count = [&] {
    int value = 0;
    std::memcpy(&value, data, sizeof value);
    *data = 0;
    return value;
  };
  EXPECT_LT(count(), 20 * kBlocks);
  ASSERT_FALSE(device.launch("until", kBlocks, 1, Order::seeded));
  EXPECT_EQ(count(), 20 * kBlocks);
  constexpr int kThreads = 7;
  ASSERT_FALSE(device.launch("once", 1, kThreads, Order::seeded));
  EXPECT_LT(count(), 20 * kThreads);
  ASSERT_FALSE(device.launch("until", 1, kThreads, Order::seeded));
  EXPECT_EQ(count(), 20 * kThreads);
}

// Each block leaves a value and raises a flag; the next one waits for the flag, which may be seen before the value.
TEST(Contention, AFlagMayComeBeforeItsValueWithoutAFence) {
  const auto seen_early = [](const std::string& store, const std::string& between) {
    Device device(R"(
        extern "C" __global__ void k(int* data, int n) {
          volatile int* values = data + 1;
          int* flags = data + 1 + n;
          const int b = atomicAdd(data, 1);
          )" + store + between +
                      R"(
          if (b == 0) return;
          while (((volatile int*)flags)[b - 1] == 0) {}
          if (values[b - 1] == 0) data[1 + 2 * n + b] = 1;
        })",
                  Build::check);
    constexpr int kBlocks = 300;
    float* const data = device.add_floats("data", 1 + 3 * kBlocks, 0);
    device.add_argument(kBlocks);
    const auto fault = device.launch("k", kBlocks, 1, Order::seeded);
    EXPECT_FALSE(fault) << fault->describe();
    int64_t early = 0;
    for (int b = 0; b < kBlocks; ++b) early += data[1 + 2 * kBlocks + b] != 0;
    return early;
  };
  EXPECT_GT(seen_early("values[b] = 1;", "((volatile int*)flags)[b] = 1;"), 0);
  EXPECT_GT(seen_early("values[b] = 1;", "atomicExch(flags + b, 1);"), 0);
  EXPECT_GT(
      seen_early("asm volatile(\"st.relaxed.gpu.s32 [%0], 1;\" :: \"l\"(values + b));", "atomicAdd(flags + b, 1);"), 0);
  EXPECT_EQ(seen_early("values[b] = 1;", "__threadfence(); ((volatile int*)flags)[b] = 1;"), 0);
  EXPECT_EQ(seen_early("values[b] = 1;", "__threadfence(); atomicExch(flags + b, 1);"), 0);
  EXPECT_EQ(seen_early("values[b] = 1;", "asm volatile(\"st.release.gpu.s32 [%0], 1;\" :: \"l\"(flags + b));"), 0);
}

}  // namespace
}  // namespace sandbox::cpu::runtime
