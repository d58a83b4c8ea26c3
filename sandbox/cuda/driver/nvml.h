// The clock of a GPU and whether it is throttled, through the driver's management library (NVML), opened at run time.
#pragma once

#include <string>

#include "sandbox/gpu/run/platform.h"

namespace sandbox::cuda::driver {

class ClockMonitor {
 public:
  // States are unknown without the library or the device.
  explicit ClockMonitor(const std::string& pci_bus_id);

  gpu::run::ClockState read() const;
  bool available() const { return device_ != nullptr; }

 private:
  void* device_ = nullptr;
  int (*clock_info_)(void*, int, unsigned*) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
};

}  // namespace sandbox::cuda::driver
