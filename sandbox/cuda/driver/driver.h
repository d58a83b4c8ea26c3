// The CUDA driver, opened at run time: building needs no CUDA Toolkit, and starting no driver. Prototypes are our own;
// driver_test.cpp compares them with cuda.h if installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.h"

namespace sandbox::cuda::driver {

using DevicePtr = uint64_t;
using Handle = void*;  // a context, stream, event, module or function

// Results of the driver that we distinguish.
enum DriverResult : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kOutOfResources = 701,
  kLaunchTimeout = 702,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kCooperativeTooLarge = 720,
  kInvalidClusterSize = 912,
};

// This host has no NVIDIA driver, or the driver finds no GPU.
class NoGpu : public core::SystemError {
 public:
  using SystemError::SystemError;
};

// A failed driver call. In a run worker the candidate may be the cause; elsewhere it is our own failure.
class DriverError : public core::SystemError {
 public:
  DriverError(int result, const std::string& what) : SystemError(what), result_(result) {}
  int result() const { return result_; }

 private:
  int result_;
};

// cuDeviceGetAttribute
enum class Attribute : int {
  multiprocessors = 16,
  l2_bytes = 38,
  compute_major = 75,
  compute_minor = 76,
  shared_bytes_per_multiprocessor = 81,
  registers_per_multiprocessor = 82,
  registers_per_block = 12,
  pageable_memory_access = 88,
  cooperative_launch = 95,
  shared_bytes_opt_in = 97,
  posix_descriptors = 103,
  blocks_per_multiprocessor = 106,
  cluster_launch = 120,
};

// cuFuncGetAttribute, cuFuncSetAttribute
enum class FunctionAttribute : int {
  threads_per_block = 0,
  static_shared_bytes = 1,
  local_bytes = 3,
  registers = 4,
  dynamic_shared_bytes = 8,
  non_portable_cluster = 14,
};

enum class Limit : int { stack_bytes = 0, printf_bytes = 1, heap_bytes = 2, persisting_l2_bytes = 6 };

struct MemoryLocation {
  int type = 1;  // CU_MEM_LOCATION_TYPE_DEVICE
  int device = 0;
};
struct AllocationProperties {
  int type = 1;          // CU_MEM_ALLOCATION_TYPE_PINNED
  int handle_types = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
  MemoryLocation location;
  void* windows_only = nullptr;
  unsigned char compression = 0, rdma = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};
struct AccessDescription {
  MemoryLocation location;
  int flags = 0;  // 1: read, 3: read and write
};
struct LaunchAttribute {
  int id = 0;  // 2: cooperative, 4: cluster dimension, 6: programmatic stream serialization
  char pad[4] = {};
  union {
    char bytes[64];
    int number;
    unsigned dimensions[3];
  } value = {};
};
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  Handle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
struct alignas(128) TensorMapBits {
  uint64_t words[16];
};

// Functions of the driver: name, version suffix of its symbol, parameters. Each returns a result.
// clang-format off
#define KW_DRIVER_FUNCTIONS(X) \
  X(cuInit, "", (unsigned)) \
  X(cuDriverGetVersion, "", (int*)) \
  X(cuGetErrorName, "", (int, const char**)) \
  X(cuGetErrorString, "", (int, const char**)) \
  X(cuDeviceGetCount, "", (int*)) \
  X(cuDeviceGet, "", (int*, int)) \
  X(cuDeviceGetName, "", (char*, int, int)) \
  X(cuDeviceGetAttribute, "", (int*, int, int)) \
  X(cuDeviceTotalMem, "_v2", (size_t*, int)) \
  X(cuDeviceGetPCIBusId, "", (char*, int, int)) \
  X(cuCtxCreate, "_v2", (Handle*, unsigned, int)) \
  X(cuCtxDestroy, "_v2", (Handle)) \
  X(cuCtxSetLimit, "", (int, size_t)) \
  X(cuCtxResetPersistingL2Cache, "", ()) \
  X(cuMemGetInfo, "_v2", (size_t*, size_t*)) \
  X(cuStreamCreate, "", (Handle*, unsigned)) \
  X(cuStreamDestroy, "_v2", (Handle)) \
  X(cuStreamSynchronize, "", (Handle)) \
  X(cuStreamQuery, "", (Handle)) \
  X(cuEventCreate, "", (Handle*, unsigned)) \
  X(cuEventDestroy, "_v2", (Handle)) \
  X(cuEventRecord, "", (Handle, Handle)) \
  X(cuEventQuery, "", (Handle)) \
  X(cuEventElapsedTime, "", (float*, Handle, Handle)) \
  X(cuModuleLoadData, "", (Handle*, const void*)) \
  X(cuModuleUnload, "", (Handle)) \
  X(cuModuleGetFunction, "", (Handle*, Handle, const char*)) \
  X(cuFuncGetAttribute, "", (int*, int, Handle)) \
  X(cuFuncSetAttribute, "", (Handle, int, int)) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "", (int*, Handle, int, size_t)) \
  X(cuOccupancyMaxActiveClusters, "", (int*, Handle, const LaunchConfig*)) \
  X(cuLaunchKernelEx, "", (const LaunchConfig*, Handle, void**, void**)) \
  X(cuMemAlloc, "_v2", (DevicePtr*, size_t)) \
  X(cuMemFree, "_v2", (DevicePtr)) \
  X(cuMemcpyHtoDAsync, "_v2", (DevicePtr, const void*, size_t, Handle)) \
  X(cuMemcpyDtoHAsync, "_v2", (void*, DevicePtr, size_t, Handle)) \
  X(cuMemcpyDtoDAsync, "_v2", (DevicePtr, DevicePtr, size_t, Handle)) \
  X(cuMemsetD8Async, "", (DevicePtr, unsigned char, size_t, Handle)) \
  X(cuMemsetD32Async, "", (DevicePtr, unsigned, size_t, Handle)) \
  X(cuMemGetAllocationGranularity, "", (size_t*, const AllocationProperties*, int)) \
  X(cuMemCreate, "", (unsigned long long*, size_t, const AllocationProperties*, unsigned long long)) \
  X(cuMemRelease, "", (unsigned long long)) \
  X(cuMemExportToShareableHandle, "", (void*, unsigned long long, int, unsigned long long)) \
  X(cuMemImportFromShareableHandle, "", (unsigned long long*, void*, int)) \
  X(cuMemAddressReserve, "", (DevicePtr*, size_t, size_t, DevicePtr, unsigned long long)) \
  X(cuMemAddressFree, "", (DevicePtr, size_t)) \
  X(cuMemMap, "", (DevicePtr, size_t, size_t, unsigned long long, unsigned long long)) \
  X(cuMemUnmap, "", (DevicePtr, size_t)) \
  X(cuMemSetAccess, "", (DevicePtr, size_t, const AccessDescription*, size_t))

// These may be missing (null): the first before driver 550, the second before driver 525.
#define KW_OPTIONAL_DRIVER_FUNCTIONS(X) \
  X(cuFuncGetParamInfo, "", (Handle, size_t, size_t*, size_t*)) \
  X(cuTensorMapEncodeTiled, "", (TensorMapBits*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*, int, int, int, int))
// clang-format on

struct DriverFunctions {
#define KW_MEMBER(name, suffix, parameters) int(*name) parameters;
  KW_DRIVER_FUNCTIONS(KW_MEMBER)
  KW_OPTIONAL_DRIVER_FUNCTIONS(KW_MEMBER)
#undef KW_MEMBER
};

class Driver {
 public:
  // Opens libcuda and initialises it. Throws NoGpu with the remedy if it is missing or finds no device.
  static Driver open();
  static bool is_installed();

  const DriverFunctions* operator->() const { return &functions_; }
  // Throws DriverError unless `result` is success.
  void require(int result, const char* call) const;
  std::string explain(int result) const;  // "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"

  int device_count() const;
  std::string version() const;  // "13.0": the newest CUDA version that it supports

 private:
  DriverFunctions functions_{};
};

// Properties of a device that need no context on it.
struct DeviceFacts {
  int index = 0;
  std::string name, pci_bus_id;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  int64_t memory_bytes = 0, l2_bytes = 0;
  int64_t shared_bytes_per_block = 0;  // the opt-in maximum
  int64_t shared_bytes_per_multiprocessor = 0, registers_per_multiprocessor = 0;

  // The architecture for NVRTC: with "a" if it has architecture-specific features (9.0 and newer: "sm_90a"), else
  // without ("sm_80").
  std::string architecture() const;
};
// True if code for the architecture `wanted` ("sm_80", "sm_90a", "" for any) runs on a device of architecture `device`.
// Code for an architecture with a letter runs on that one alone.
bool runs_on(const std::string& device, const std::string& wanted);

// Throws DriverError for an unknown index.
DeviceFacts device_facts(const Driver& driver, int index);

}  // namespace sandbox::cuda::driver
