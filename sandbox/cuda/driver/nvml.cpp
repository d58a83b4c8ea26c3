#include "sandbox/cuda/driver/nvml.h"

#include <utility>

#include "core/dynamic_library.h"

namespace sandbox::cuda::driver {
namespace {
constexpr int kSmClock = 1;  // NVML_CLOCK_SM
// nvmlClocksEventReason*: software power cap, hardware slowdown, software and hardware thermal slowdown, power brake.
constexpr unsigned long long kHeldBack = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
constexpr int kUncorrected = 1, kSinceLoaded = 0;  // NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC
// All of kHeldBack but the software power cap, which a healthy GPU reaches, too.
constexpr std::pair<unsigned long long, const char*> kUnhealthy[] = {{0x20, "it is too hot"},
                                                                     {0x40, "its hardware is too hot"},
                                                                     {0x80, "its power supply brakes it"},
                                                                     {0x8, "its hardware slows it down"}};
}  // namespace

ClockMonitor::ClockMonitor(const std::string& pci_bus_id) {
  const core::DynamicLibrary library({"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"});
  if (!library) return;
  library.find(memory_errors_, "nvmlDeviceGetTotalEccErrors");
  int (*init)() = nullptr;
  int (*by_bus_id)(const char*, void**) = nullptr;
  if (!library.find(init, "nvmlInit_v2") || !library.find(by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2")) return;
  if (!library.find(clock_info_, "nvmlDeviceGetClockInfo")) return;
  if (!library.find(reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons")) return;
  void* device = nullptr;
  if (init() == 0 && by_bus_id(pci_bus_id.c_str(), &device) == 0) device_ = device;
}

gpu::run::ClockState ClockMonitor::read() const {
  gpu::run::ClockState state;
  if (device_ == nullptr) return state;
  unsigned mhz = 0;
  if (clock_info_(device_, kSmClock, &mhz) == 0) state.mhz = static_cast<float>(mhz);
  unsigned long long reasons = 0;
  state.throttled = reasons_(device_, &reasons) == 0 && (reasons & kHeldBack) != 0;
  return state;
}

gpu::run::DeviceHealth ClockMonitor::health() const {
  gpu::run::DeviceHealth health;
  if (device_ == nullptr) return health;
  unsigned long long reasons = 0, errors = 0;
  if (reasons_(device_, &reasons) != 0) reasons = 0;
  for (const auto& [bit, why] : kUnhealthy) {
    if (health.slowed.empty() && (reasons & bit) != 0) health.slowed = why;
  }
  const bool counts = memory_errors_ != nullptr && memory_errors_(device_, kUncorrected, kSinceLoaded, &errors) == 0;
  if (counts) health.memory_errors = static_cast<int64_t>(errors);
  return health;
}

}  // namespace sandbox::cuda::driver
