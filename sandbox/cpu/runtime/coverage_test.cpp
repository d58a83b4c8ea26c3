// Which lines of a source have run, as the covering build tells.
#include <gtest/gtest.h>

#include "sandbox/cpu/runtime/module.h"
#include "sandbox/cpu/test_device_fixture.h"

namespace sandbox::cpu::runtime {
namespace {
using test::Device;
using Lines = std::vector<int64_t>;

TEST(Coverage, TellsWhichSidesOfConditionsHaveRun) {
  Device device(R"(
extern "C" __global__ void step(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = in[i];
  if (value > 100.0f) {
    value = sqrtf(value);
  }
  out[i] = value < 0.0f ? expf(value) : value;
})",
                Build::cover);
  float* in = device.add_floats("in", 64);
  const float* out = device.add_floats("out", 64);
  device.add_argument(64);
  for (int i = 0; i < 64; ++i) in[i] = static_cast<float>(i);
  ASSERT_FALSE(device.launch("step", 1, 128));
  EXPECT_EQ(out[63], 63.0f);
  EXPECT_EQ(device.module().lines_not_run(), (Lines{7, 9}));
  in[5] = 10000;
  ASSERT_FALSE(device.launch("step", 1, 64));
  EXPECT_EQ(out[5], 100.0f);
  EXPECT_EQ(device.module().lines_not_run(), Lines{9});
  in[5] = -1;
  ASSERT_FALSE(device.launch("step", 1, 64));
  EXPECT_EQ(device.module().lines_not_run(), Lines{});
}

TEST(Coverage, CountsAFunctionOnceWhereverItIsInlined) {
  Device device(R"(
template <int WAY>
__device__ float chosen(float x) {
  if (WAY == 1) return x + 1.0f;
  return x > 1e30f
      ? logf(x)
      : x;
}
extern "C" __global__ void both(float* out, float large) {
  out[0] = chosen<1>(out[0]) + chosen<2>(large);
  if (out[0] > 1e38f)
    out[1] = chosen<2>(out[1]);
})",
                Build::cover);
  device.add_floats("out", 2);
  device.add_argument(2e30f);
  ASSERT_FALSE(device.launch("both", 1, 1));
  EXPECT_EQ(device.module().lines_not_run(), Lines{12});
}

TEST(Coverage, IsToldOfKernelsWithDynamicSharedMemory) {
  Device device(R"(
extern "C" __global__ void turn(float* x) {
  extern __shared__ float part[];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
})",
                Build::cover);
  float* x = device.add_floats("x", 32);
  x[0] = 7;
  EXPECT_EQ(device.module().lines_not_run().front(), 4);
  ASSERT_FALSE(device.launch("turn", 1, 32, Order::forward, 32 * sizeof(float)));
  EXPECT_EQ(x[31], 7);
  EXPECT_TRUE(device.module().lines_not_run().empty());
}

TEST(Coverage, FaultsNameLinesOfTheSource) {
  Device device("extern \"C\" __global__ void stop(int n) {\n  if (n > 2) n = 3;\n  if (n > 2) __trap();\n}",
                Build::cover);
  device.add_argument(7);
  const auto fault = device.launch("stop", 1, 1);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->line, 3);
}

TEST(Coverage, OtherBuildsTellNothing) {
  Device device("extern \"C\" __global__ void f(int n) { if (n > 2) __trap(); }", Build::fast);
  EXPECT_TRUE(device.module().lines_not_run().empty());
}

}  // namespace
}  // namespace sandbox::cpu::runtime
