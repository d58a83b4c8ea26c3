#include "sandbox/cuda/driver/driver.h"

#include <dlfcn.h>

#include <type_traits>

namespace sandbox::cuda::driver {

Driver Driver::open() {
  void* library = nullptr;
  for (const char* name : {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"}) {  // the second: some containers
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    throw core::SystemError("the NVIDIA driver is not found (libcuda.so.1): install it, or use --device cpu");
  }
  Driver driver;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  const auto take = [&](auto& function, const char* name) {
    if (!find(function, name)) throw core::SystemError(std::string("this NVIDIA driver is too old: it lacks ") + name);
  };
  DriverFunctions& f = driver.functions_;
  take(f.cuInit, "cuInit");
  take(f.cuDriverGetVersion, "cuDriverGetVersion");
  take(f.cuGetErrorName, "cuGetErrorName");
  take(f.cuGetErrorString, "cuGetErrorString");
  take(f.cuDeviceGetCount, "cuDeviceGetCount");
  take(f.cuDeviceGet, "cuDeviceGet");
  take(f.cuDeviceGetName, "cuDeviceGetName");
  take(f.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  take(f.cuDeviceTotalMem, "cuDeviceTotalMem_v2");
  take(f.cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId");
  take(f.cuCtxCreate, "cuCtxCreate_v2");
  take(f.cuCtxDestroy, "cuCtxDestroy_v2");
  take(f.cuCtxSetLimit, "cuCtxSetLimit");
  take(f.cuCtxResetPersistingL2Cache, "cuCtxResetPersistingL2Cache");
  take(f.cuMemGetInfo, "cuMemGetInfo_v2");
  take(f.cuStreamCreate, "cuStreamCreate");
  take(f.cuStreamDestroy, "cuStreamDestroy_v2");
  take(f.cuStreamSynchronize, "cuStreamSynchronize");
  take(f.cuStreamQuery, "cuStreamQuery");
  take(f.cuEventCreate, "cuEventCreate");
  take(f.cuEventDestroy, "cuEventDestroy_v2");
  take(f.cuEventRecord, "cuEventRecord");
  take(f.cuEventQuery, "cuEventQuery");
  take(f.cuEventElapsedTime, "cuEventElapsedTime");
  take(f.cuModuleLoadData, "cuModuleLoadData");
  take(f.cuModuleUnload, "cuModuleUnload");
  take(f.cuModuleGetFunction, "cuModuleGetFunction");
  take(f.cuFuncGetAttribute, "cuFuncGetAttribute");
  take(f.cuFuncSetAttribute, "cuFuncSetAttribute");
  take(f.cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  take(f.cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters");
  take(f.cuLaunchKernelEx, "cuLaunchKernelEx");
  take(f.cuMemAlloc, "cuMemAlloc_v2");
  take(f.cuMemFree, "cuMemFree_v2");
  take(f.cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  take(f.cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  take(f.cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  take(f.cuMemsetD8Async, "cuMemsetD8Async");
  take(f.cuMemsetD32Async, "cuMemsetD32Async");
  take(f.cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity");
  take(f.cuMemCreate, "cuMemCreate");
  take(f.cuMemRelease, "cuMemRelease");
  take(f.cuMemExportToShareableHandle, "cuMemExportToShareableHandle");
  take(f.cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle");
  take(f.cuMemAddressReserve, "cuMemAddressReserve");
  take(f.cuMemAddressFree, "cuMemAddressFree");
  take(f.cuMemMap, "cuMemMap");
  take(f.cuMemUnmap, "cuMemUnmap");
  take(f.cuMemSetAccess, "cuMemSetAccess");
  find(f.cuFuncGetParamInfo, "cuFuncGetParamInfo");
  find(f.cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  const int result = f.cuInit(0);
  if (result == kNoDevice) throw core::SystemError("the NVIDIA driver is there, but finds no GPU: use --device cpu");
  driver.require(result, "cuInit");
  return driver;
}

std::string Driver::explain(int result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  functions_.cuGetErrorName(result, &name);
  functions_.cuGetErrorString(result, &text);
  return std::string(text != nullptr ? text : "unknown error") + " (" +
         (name != nullptr ? name : std::to_string(result)) + ")";
}

void Driver::require(int result, const char* call) const {
  if (result != kSuccess) throw DriverError(result, std::string(call) + ": " + explain(result));
}

int Driver::device_count() const {
  int count = 0;
  require(functions_.cuDeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

std::string Driver::version() const {
  int version = 0;
  require(functions_.cuDriverGetVersion(&version), "cuDriverGetVersion");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string DeviceFacts::architecture() const {
  return "sm_" + std::to_string(compute_major) + std::to_string(compute_minor) + (compute_major >= 9 ? "a" : "");
}

bool runs_on(const std::string& device, const std::string& wanted) {
  if (wanted.empty()) return true;
  const auto number = [](const std::string& architecture) { return std::stoi(architecture.substr(3)); };
  const bool own_features = wanted.back() == 'a';
  return own_features ? device == wanted : number(device) >= number(wanted);
}

DeviceFacts device_facts(const Driver& driver, int index) {
  int device = 0;
  driver.require(driver->cuDeviceGet(&device, index), "cuDeviceGet");
  const auto attribute = [&](Attribute which) {
    int value = 0;
    driver.require(driver->cuDeviceGetAttribute(&value, static_cast<int>(which), device), "cuDeviceGetAttribute");
    return value;
  };
  DeviceFacts facts;
  facts.index = index;
  char text[256] = {};
  driver.require(driver->cuDeviceGetName(text, sizeof text, device), "cuDeviceGetName");
  facts.name = text;
  driver.require(driver->cuDeviceGetPCIBusId(text, sizeof text, device), "cuDeviceGetPCIBusId");
  facts.pci_bus_id = text;
  size_t bytes = 0;
  driver.require(driver->cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  facts.memory_bytes = static_cast<int64_t>(bytes);
  facts.compute_major = attribute(Attribute::compute_major);
  facts.compute_minor = attribute(Attribute::compute_minor);
  facts.multiprocessors = attribute(Attribute::multiprocessors);
  facts.l2_bytes = attribute(Attribute::l2_bytes);
  facts.shared_bytes_per_block = attribute(Attribute::shared_bytes_opt_in);
  facts.shared_bytes_per_multiprocessor = attribute(Attribute::shared_bytes_per_multiprocessor);
  facts.registers_per_multiprocessor = attribute(Attribute::registers_per_multiprocessor);
  return facts;
}

}  // namespace sandbox::cuda::driver
