// Compares our numbers with ROCm's header, and what the vendor's tables and messages say without a driver.
#include "sandbox/hip/driver/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#define KW_HAVE_HIP_HEADER
#endif

namespace sandbox::hip::driver {
namespace {
using gpu::driver::Attribute;
using testing::HasSubstr;

#ifdef KW_HAVE_HIP_HEADER
TEST(HipDriver, NumbersAreRocms) {
  EXPECT_EQ(gpu::driver::kIllegalAddress, hipErrorIllegalAddress);
  EXPECT_EQ(gpu::driver::kLaunchFailed, hipErrorLaunchFailure);
  EXPECT_EQ(gpu::driver::kNoDevice, hipErrorNoDevice);
  EXPECT_EQ(gpu::driver::kNotReady, hipErrorNotReady);
  EXPECT_EQ(gpu::driver::kAssert, hipErrorAssert);
  EXPECT_EQ(gpu::driver::kOutOfResources, hipErrorLaunchOutOfResources);
  EXPECT_EQ(gpu::driver::kCooperativeTooLarge, hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(number_of(Attribute::multiprocessors), hipDeviceAttributeMultiprocessorCount);
  EXPECT_EQ(number_of(Attribute::warp_lanes), hipDeviceAttributeWarpSize);
  EXPECT_EQ(number_of(Attribute::l2_bytes), hipDeviceAttributeL2CacheSize);
  EXPECT_EQ(number_of(Attribute::shared_bytes_per_block), hipDeviceAttributeMaxSharedMemoryPerBlock);
  EXPECT_EQ(number_of(Attribute::shared_bytes_per_multiprocessor), hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
  EXPECT_EQ(number_of(Attribute::registers_per_block), hipDeviceAttributeMaxRegistersPerBlock);
  EXPECT_EQ(number_of(Attribute::registers_per_multiprocessor), hipDeviceAttributeMaxRegistersPerMultiprocessor);
  EXPECT_EQ(number_of(Attribute::pageable_memory_access), hipDeviceAttributePageableMemoryAccess);
  EXPECT_EQ(number_of(Attribute::cooperative_launch), hipDeviceAttributeCooperativeLaunch);
  EXPECT_EQ(static_cast<int>(gpu::driver::Limit::heap_bytes), hipLimitMallocHeapSize);
  EXPECT_EQ(static_cast<int>(gpu::driver::FunctionAttribute::registers), HIP_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_EQ(static_cast<int>(gpu::driver::FunctionAttribute::local_bytes), HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_EQ(sizeof(gpu::driver::AccessDescription), sizeof(hipMemAccessDesc));
}
#endif

TEST(HipDriver, WhereThereIsNoneItSaysWhatToDo) {
  try {
    EXPECT_GT(open_driver().device_count(), 0);  // this machine has an AMD GPU
  } catch (const core::SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--device cpu-hip"));
  }
}

TEST(HipDriver, KnowsTheLargestCacheBehindL2) {
  EXPECT_EQ(infinity_cache_bytes("gfx90a"), 0);
  EXPECT_EQ(infinity_cache_bytes("gfx942"), int64_t{256} << 20);
  EXPECT_EQ(infinity_cache_bytes("gfx1030"), int64_t{128} << 20);
  EXPECT_EQ(infinity_cache_bytes("gfx1012"), 0) << "RDNA 1";
}

TEST(HipDriver, NvidiasArchitecturesSayNothingAboutAmd) {
  EXPECT_TRUE(gpu::driver::runs_on("gfx90a", "sm_100a"));
  EXPECT_TRUE(gpu::driver::runs_on("gfx1100", ""));
}

}  // namespace
}  // namespace sandbox::hip::driver
