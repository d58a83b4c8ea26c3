// The driver of NVIDIA's or AMD's GPUs behind one interface: CUDA and HIP correspond call by call, and in the numbers
// of their errors. Opened at run time (sandbox/cuda/driver, sandbox/hip/driver): building needs no toolkit, and
// starting no driver. Prototypes are our own; the vendors' driver_test.cpp compare them with cuda.h and
// hip_runtime_api.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace sandbox::gpu::driver {

using DevicePtr = uint64_t;
using Handle = void*;  // a context, stream, event, module or function
using MemoryHandle = unsigned long long;

// Results of the driver that we distinguish; CUDA and HIP number them alike.
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

// This host lacks the driver, or the driver finds no GPU.
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

// Properties of a device; Vendor::number_of has the drivers' numbers.
enum class Attribute {
  multiprocessors,
  warp_lanes,
  l2_bytes,
  shared_bytes_per_block,  // NVIDIA: the opt-in maximum
  shared_bytes_per_multiprocessor,
  registers_per_multiprocessor,
  registers_per_block,
  pageable_memory_access,
  cooperative_launch,
  cluster_launch,
};

// cuFuncGetAttribute, cuFuncSetAttribute; hipFuncGetAttribute has the same numbers.
enum class FunctionAttribute : int {
  threads_per_block = 0,
  static_shared_bytes = 1,
  local_bytes = 3,
  registers = 4,
  dynamic_shared_bytes = 8,
  non_portable_cluster = 14,
};

// cuCtxSetLimit; hipDeviceSetLimit has the first three.
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

// Functions with one meaning in both drivers: our name, the symbols of CUDA and of HIP, parameters. Each returns a
// result.
// clang-format off
#define KW_DRIVER_FUNCTIONS(X) \
  X(driver_init, "cuInit", "hipInit", (unsigned)) \
  X(device_count, "cuDeviceGetCount", "hipGetDeviceCount", (int*)) \
  X(device_get, "cuDeviceGet", "hipDeviceGet", (int*, int)) \
  X(device_name, "cuDeviceGetName", "hipDeviceGetName", (char*, int, int)) \
  X(device_attribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute", (int*, int, int)) \
  X(device_memory, "cuDeviceTotalMem_v2", "hipDeviceTotalMem", (size_t*, int)) \
  X(device_pci_bus_id, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId", (char*, int, int)) \
  X(device_uuid, "cuDeviceGetUuid_v2", "hipDeviceGetUuid", (char*, int)) \
  X(memory_info, "cuMemGetInfo_v2", "hipMemGetInfo", (size_t*, size_t*)) \
  X(stream_create, "cuStreamCreate", "hipStreamCreateWithFlags", (Handle*, unsigned)) \
  X(stream_destroy, "cuStreamDestroy_v2", "hipStreamDestroy", (Handle)) \
  X(stream_synchronize, "cuStreamSynchronize", "hipStreamSynchronize", (Handle)) \
  X(stream_query, "cuStreamQuery", "hipStreamQuery", (Handle)) \
  X(event_create, "cuEventCreate", "hipEventCreateWithFlags", (Handle*, unsigned)) \
  X(event_destroy, "cuEventDestroy_v2", "hipEventDestroy", (Handle)) \
  X(event_record, "cuEventRecord", "hipEventRecord", (Handle, Handle)) \
  X(event_query, "cuEventQuery", "hipEventQuery", (Handle)) \
  X(event_elapsed_ms, "cuEventElapsedTime", "hipEventElapsedTime", (float*, Handle, Handle)) \
  X(module_load, "cuModuleLoadData", "hipModuleLoadData", (Handle*, const void*)) \
  X(module_unload, "cuModuleUnload", "hipModuleUnload", (Handle)) \
  X(module_function, "cuModuleGetFunction", "hipModuleGetFunction", (Handle*, Handle, const char*)) \
  X(function_attribute, "cuFuncGetAttribute", "hipFuncGetAttribute", (int*, int, Handle)) \
  X(resident_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", (int*, Handle, int, size_t)) \
  X(allocate, "cuMemAlloc_v2", "hipMalloc", (DevicePtr*, size_t)) \
  X(deallocate, "cuMemFree_v2", "hipFree", (DevicePtr)) \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", (DevicePtr, const void*, size_t, Handle)) \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", (void*, DevicePtr, size_t, Handle)) \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", (DevicePtr, DevicePtr, size_t, Handle)) \
  X(set_bytes, "cuMemsetD8Async", "hipMemsetD8Async", (DevicePtr, unsigned char, size_t, Handle)) \
  X(set_words, "cuMemsetD32Async", "hipMemsetD32Async", (DevicePtr, unsigned, size_t, Handle)) \
  X(granularity, "cuMemGetAllocationGranularity", "hipMemGetAllocationGranularity", (size_t*, const AllocationProperties*, int)) \
  X(memory_create, "cuMemCreate", "hipMemCreate", (MemoryHandle*, size_t, const AllocationProperties*, unsigned long long)) \
  X(memory_release, "cuMemRelease", "hipMemRelease", (MemoryHandle)) \
  X(memory_export, "cuMemExportToShareableHandle", "hipMemExportToShareableHandle", (void*, MemoryHandle, int, unsigned long long)) \
  X(memory_import, "cuMemImportFromShareableHandle", "hipMemImportFromShareableHandle", (MemoryHandle*, void*, int)) \
  X(address_reserve, "cuMemAddressReserve", "hipMemAddressReserve", (DevicePtr*, size_t, size_t, DevicePtr, unsigned long long)) \
  X(address_free, "cuMemAddressFree", "hipMemAddressFree", (DevicePtr, size_t)) \
  X(memory_map, "cuMemMap", "hipMemMap", (DevicePtr, size_t, size_t, MemoryHandle, unsigned long long)) \
  X(memory_unmap, "cuMemUnmap", "hipMemUnmap", (DevicePtr, size_t)) \
  X(memory_set_access, "cuMemSetAccess", "hipMemSetAccess", (DevicePtr, size_t, const AccessDescription*, size_t))

// Functions that CUDA alone has; null where the driver lacks them. parameter_info came with driver 550, tensor_map_encode
// with driver 525.
#define KW_CUDA_ONLY_FUNCTIONS(X) \
  X(reset_persisting_l2, "cuCtxResetPersistingL2Cache", ()) \
  X(set_function_attribute, "cuFuncSetAttribute", (Handle, int, int)) \
  X(resident_clusters, "cuOccupancyMaxActiveClusters", (int*, Handle, const LaunchConfig*)) \
  X(parameter_info, "cuFuncGetParamInfo", (Handle, size_t, size_t*, size_t*)) \
  X(tensor_map_encode, "cuTensorMapEncodeTiled", (TensorMapBits*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*, int, int, int, int))
// clang-format on

struct DriverFunctions {
#define KW_MEMBER(name, cuda, hip, parameters) int(*name) parameters = nullptr;
  KW_DRIVER_FUNCTIONS(KW_MEMBER)
#undef KW_MEMBER
#define KW_MEMBER(name, cuda, parameters) int(*name) parameters = nullptr;
  KW_CUDA_ONLY_FUNCTIONS(KW_MEMBER)
#undef KW_MEMBER
};

// Properties of a device that need no context on it.
struct DeviceFacts {
  int index = 0;
  std::string name, pci_bus_id;
  std::string uuid;                          // 32 hexadecimal digits: of this one GPU
  std::string architecture;                  // for the run-time compiler: "sm_90a", "gfx90a"
  int compute_major = 0, compute_minor = 0;  // NVIDIA's compute capability; 0 for AMD
  int warp_lanes = 32;
  int multiprocessors = 0;  // AMD: compute units
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;                // AMD: the larger of L2 and the Infinity Cache, which lies behind it
  int64_t shared_bytes_per_block = 0;  // NVIDIA: the opt-in maximum
  int64_t shared_bytes_per_multiprocessor = 0, registers_per_multiprocessor = 0;
};

// What differs between the drivers beyond the names of functions. Results are the driver's.
class Vendor {
 public:
  virtual ~Vendor() = default;
  // "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
  virtual std::string explain(int result) const = 0;
  // The driver's symbol for a member of DriverFunctions or Vendor; the name itself when there is none.
  virtual std::string symbol_of(std::string_view name) const = 0;
  virtual std::string version() const = 0;  // "13.0": the newest CUDA or HIP version that it supports
  // The driver's number of an attribute; nullopt: its devices lack the property.
  virtual std::optional<int> number_of(Attribute attribute) const = 0;
  // Fills in architecture, compute capability and the size of the last cache.
  virtual void describe(DeviceFacts& facts) const = 0;
  // Makes the device the calling thread's, which spins while it waits. `context`: null if the driver has no such
  // object.
  virtual int open_context(Handle* context, int device) const = 0;
  virtual int close_context(Handle context) const = 0;
  // kSuccess where the driver has no such limit.
  virtual int limit(Limit which, size_t bytes) const = 0;
  virtual int launch(const LaunchConfig& config, Handle function, void** parameters) const = 0;
  virtual int import_descriptor(MemoryHandle* memory, int fd) const = 0;
};

class Driver {
 public:
  // `functions`: filled by the vendor's open_driver(), which has initialised the driver.
  Driver(const DriverFunctions& functions, std::unique_ptr<const Vendor> vendor)
      : functions_(functions), vendor_(std::move(vendor)) {}

  const DriverFunctions* operator->() const { return &functions_; }
  const Vendor& vendor() const { return *vendor_; }
  // Throws DriverError unless `result` is success. `call`: a member of DriverFunctions or Vendor.
  void require(int result, std::string_view call) const;
  std::string explain(int result) const { return vendor_->explain(result); }
  std::string version() const { return vendor_->version(); }

  int device_count() const;
  int attribute(Attribute which, int device) const;  // 0 if the vendor's devices lack it

 private:
  DriverFunctions functions_;
  std::unique_ptr<const Vendor> vendor_;
};

// True if code for the architecture `wanted` ("sm_80", "sm_90a", "" for any) runs on a device of architecture `device`.
// Code for an architecture with a letter runs on that one alone. NVIDIA's names say nothing about AMD's devices.
bool runs_on(const std::string& device, const std::string& wanted);

// Throws DriverError for an unknown index.
DeviceFacts device_facts(const Driver& driver, int index);

}  // namespace sandbox::gpu::driver
