// The clock of a GPU, whether it is throttled, and its health, through the driver's management library (NVML), opened
// at run time.
#pragma once

#include <string>

#include "sandbox/gpu/run/platform.h"

namespace sandbox::cuda::driver {

class ClockMonitor {
 public:
  // States are unknown without the library or the device.
  explicit ClockMonitor(const std::string& pci_bus_id);

  gpu::run::ClockState read() const;
  gpu::run::DeviceHealth health() const;
  bool available() const { return device_ != nullptr; }

 private:
  void* device_ = nullptr;
  int (*clock_info_)(void*, int, unsigned*) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
  int (*memory_errors_)(void*, int, int, unsigned long long*) = nullptr;  // null where the library lacks it
};

}  // namespace sandbox::cuda::driver
