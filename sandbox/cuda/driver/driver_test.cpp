// Compares our prototypes with the toolkit's header, and checks the message without a driver.
#include "sandbox/cuda/driver/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#ifdef KW_HAVE_NVRTC
#include <cuda.h>
#endif

namespace sandbox::cuda::driver {
namespace {
using gpu::driver::AccessDescription;
using gpu::driver::AllocationProperties;
using gpu::driver::Attribute;
using gpu::driver::FunctionAttribute;
using gpu::driver::LaunchAttribute;
using gpu::driver::LaunchConfig;
using gpu::driver::Limit;
using gpu::driver::MemoryLocation;
using gpu::driver::runs_on;
using gpu::driver::TensorMapBits;

#ifdef KW_HAVE_NVRTC
static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(AllocationProperties, windows_only) == offsetof(CUmemAllocationProp, win32HandleMetaData));
static_assert(offsetof(AllocationProperties, compression) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(AccessDescription) == sizeof(CUmemAccessDesc));
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(sizeof(TensorMapBits) == sizeof(CUtensorMap) && alignof(TensorMapBits) >= alignof(CUtensorMap));

TEST(CudaDriver, NumbersAreTheToolkits) {
  EXPECT_EQ(gpu::driver::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(gpu::driver::kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(gpu::driver::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(gpu::driver::kAssert, CUDA_ERROR_ASSERT);
  EXPECT_EQ(gpu::driver::kCooperativeTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  EXPECT_EQ(gpu::driver::kInvalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(gpu::driver::kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_EQ(number_of(Attribute::shared_bytes_per_block), CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(number_of(Attribute::cluster_launch), CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
  EXPECT_EQ(number_of(Attribute::l2_bytes), CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_EQ(number_of(Attribute::multiprocessors), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(number_of(Attribute::warp_lanes), CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  EXPECT_EQ(static_cast<int>(FunctionAttribute::dynamic_shared_bytes), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(static_cast<int>(FunctionAttribute::non_portable_cluster),
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  EXPECT_EQ(static_cast<int>(Limit::printf_bytes), CU_LIMIT_PRINTF_FIFO_SIZE);
  EXPECT_EQ(static_cast<int>(Limit::heap_bytes), CU_LIMIT_MALLOC_HEAP_SIZE);
  EXPECT_EQ(AllocationProperties().type, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(AllocationProperties().handle_types, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  EXPECT_EQ(MemoryLocation().type, CU_MEM_LOCATION_TYPE_DEVICE);
}
#endif

TEST(CudaDriver, WhereThereIsNoneItSaysSo) {
  try {
    const gpu::driver::Driver driver = open_driver();
    EXPECT_GT(driver.device_count(), 0);  // this machine has a GPU
  } catch (const core::SystemError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("--device cpu"));
  }
}

TEST(CudaDriver, ArchitecturesOfHopperAndLaterHaveTheirOwnFeatures) {
  EXPECT_EQ(architecture_of(9, 0), "sm_90a");
  EXPECT_EQ(architecture_of(8, 6), "sm_86");
}

TEST(CudaDriver, CodeRunsWhereItsArchitectureIsUnderstood) {
  EXPECT_TRUE(runs_on("sm_80", ""));
  EXPECT_TRUE(runs_on("sm_90a", "sm_80"));
  EXPECT_TRUE(runs_on("sm_90a", "sm_90"));
  EXPECT_TRUE(runs_on("sm_90a", "sm_90a"));
  EXPECT_TRUE(runs_on("sm_120a", "sm_90"));
  EXPECT_FALSE(runs_on("sm_100a", "sm_90a"));
  EXPECT_FALSE(runs_on("sm_86", "sm_90"));
}

}  // namespace
}  // namespace sandbox::cuda::driver
