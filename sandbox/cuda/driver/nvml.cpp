#include "sandbox/cuda/driver/nvml.h"

#include "core/dynamic_library.h"

namespace sandbox::cuda::driver {
namespace {
constexpr int kSmClock = 1;  // NVML_CLOCK_SM
// nvmlClocksEventReason*: software power cap, hardware slowdown, software and hardware thermal slowdown, power brake.
constexpr unsigned long long kHeldBack = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
}  // namespace

ClockMonitor::ClockMonitor(const std::string& pci_bus_id) {
  const core::DynamicLibrary library({"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1"});
  if (!library) return;
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

}  // namespace sandbox::cuda::driver
