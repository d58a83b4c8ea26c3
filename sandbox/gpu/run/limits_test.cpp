#include "sandbox/gpu/run/limits.h"

#include <gtest/gtest.h>

namespace sandbox::gpu::run {
namespace {

DeviceLimits hopper() {
  DeviceLimits device;
  device.compute_major = 9;
  device.multiprocessors = 132;
  device.shared_bytes_opt_in = 232448;
  device.cooperative_launch = device.cluster_launch = true;
  return device;
}
DeviceLimits ampere() {
  DeviceLimits device = hopper();
  device.compute_major = 8;
  device.compute_minor = 6;
  device.shared_bytes_opt_in = 101376;
  device.cluster_launch = false;
  return device;
}

PlannedLaunch launch_of(int64_t grid, int64_t block) {
  PlannedLaunch launch;
  launch.kernel = "k";
  launch.grid = {grid, 1, 1};
  launch.block = {block, 1, 1};
  return launch;
}
const KernelFacts kPlain{32, 0};

std::string refusal(const PlannedLaunch& launch, const DeviceLimits& device, const KernelFacts& kernel = kPlain) {
  return why_not(launch, device, kernel).value_or("it fits");
}

TEST(CudaLimits, AcceptsFittingLaunches) {
  EXPECT_EQ(refusal(launch_of(1 << 20, 1024), ampere()), "it fits");
  EXPECT_EQ(refusal(launch_of(1, 1024), ampere(), {64, 49152}), "it fits") << "every register of the block";
  PlannedLaunch launch = launch_of(132, 256);
  launch.cluster = {2, 1, 1};
  launch.cooperative = launch.overlaps_previous = true;
  launch.shared_bytes = 232448;
  launch.args = {TensorMapArg{"a_map"}};
  EXPECT_EQ(refusal(launch, hopper()), "it fits");
  KernelFacts kernel = kPlain;
  kernel.resident_blocks = 1;
  kernel.resident_clusters = 66;
  EXPECT_EQ(refusal(launch, hopper(), kernel), "it fits");
}

TEST(CudaLimits, BlocksAndRegisters) {
  PlannedLaunch tall = launch_of(1, 1);
  tall.block = {1, 1, 65};
  EXPECT_EQ(refusal(tall, hopper()), "block.z is 65; this device allows 64");
  tall.block = {64, 32, 1};
  EXPECT_EQ(refusal(tall, hopper()), "a block has 2048 threads; this device allows 1024");
  PlannedLaunch wide = launch_of(1, 1);
  wide.grid = {1, 65536, 1};
  EXPECT_EQ(refusal(wide, hopper()), "grid.y is 65536; this device allows 65535");
  EXPECT_EQ(refusal(launch_of(1, 1024), hopper(), {65, 0}),
            "1024 threads of 65 registers take 73728 registers; this device has 65536 for a block");
  EXPECT_EQ(refusal(launch_of(1, 512), hopper(), {32, 0, 256}),
            "a block has 512 threads; the kernel was compiled for at most 256 (__launch_bounds__)");
}

TEST(CudaLimits, SharedMemoryIsStaticAndDynamic) {
  PlannedLaunch launch = launch_of(1, 32);
  launch.shared_bytes = 101376;
  EXPECT_EQ(refusal(launch, ampere()), "it fits");
  EXPECT_EQ(refusal(launch, ampere(), {32, 16}),
            "a block takes 101392 bytes of shared memory (16 static, 101376 dynamic); this device allows 101376");
}

TEST(CudaLimits, ChecksHopperFeatures) {
  PlannedLaunch launch = launch_of(8, 32);
  launch.cluster = {2, 2, 1};
  EXPECT_EQ(refusal(launch, ampere()), "a cluster of 4 blocks needs compute capability 9.0; this device has 8.6");
  launch = launch_of(8, 32);
  launch.overlaps_previous = true;
  EXPECT_EQ(refusal(launch, ampere()),
            "a launch that overlaps the previous one needs compute capability 9.0; this device has 8.6");
  launch.args = {ScalarArg{int32_t{1}}, TensorMapArg{"a_map"}};
  EXPECT_EQ(refusal(launch, ampere()), "the tensor map \"a_map\" needs compute capability 9.0; this device has 8.6");
}

TEST(CudaLimits, ClustersThatNoDeviceHolds) {
  PlannedLaunch launch = launch_of(16, 1024);
  launch.cluster = {16, 1, 1};
  launch.shared_bytes = 200000;
  KernelFacts kernel = kPlain;
  kernel.resident_clusters = 0;
  EXPECT_EQ(refusal(launch, hopper(), kernel),
            "no cluster of 16 blocks of 1024 threads, 32 registers each and 200000 bytes of shared memory fits this "
            "device (8 blocks is the portable limit)");
}

TEST(CudaLimits, CooperativeGridsAreResidentAtOnce) {
  PlannedLaunch launch = launch_of(265, 1024);
  launch.cooperative = true;
  KernelFacts kernel = kPlain;
  EXPECT_EQ(refusal(launch, hopper(), kernel), "it fits") << "as far as is known";
  kernel.resident_blocks = 2;
  EXPECT_EQ(refusal(launch, hopper(), kernel),
            "a cooperative launch of 265 blocks; this device holds 264 of them at once, 2 on each of 132 "
            "multiprocessors");
  launch.grid = {264, 1, 1};
  EXPECT_EQ(refusal(launch, hopper(), kernel), "it fits");
  launch.cluster = {4, 1, 1};
  kernel.resident_clusters = 64;
  EXPECT_EQ(refusal(launch, hopper(), kernel),
            "a cooperative launch of 264 blocks; this device holds 256 of them at once, in 64 clusters");
  DeviceLimits without = hopper();
  without.cooperative_launch = false;
  EXPECT_EQ(refusal(launch, without), "this device has no cooperative launch");
}

}  // namespace
}  // namespace sandbox::gpu::run
