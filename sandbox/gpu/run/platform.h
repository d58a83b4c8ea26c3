// What NVIDIA and AMD differ in beside their drivers, for workers that hold a context. One implementation for each
// vendor: sandbox/cuda/run, sandbox/hip/run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "sandbox/gpu/driver/driver.h"
#include "sandbox/jail/jail.h"

namespace sandbox::gpu::run {

struct ClockState {
  float mhz = 0;           // multiprocessor clock; 0 if unknown
  bool throttled = false;  // by power, heat or the power supply
};

struct DeviceHealth {
  int64_t memory_errors = 0;  // that could not be corrected, since the driver was loaded
  std::string slowed;         // why its hardware holds the clock back; empty: it does not
};

class Platform {
 public:
  virtual ~Platform() = default;
  virtual std::string_view backend() const = 0;  // "cuda", "hip"
  // Throws NoGpu, DriverError.
  virtual driver::Driver open_driver() const = 0;
  // What the driver needs once its context is open.
  virtual jail::JailFolders device_files() const = 0;

  // The number of parameters of each kernel. Throws core::InputError for what is not a binary of this vendor.
  virtual std::map<std::string, int64_t> kernels_of(const std::string& binary) const = 0;
  // Throws core::InputError with one sentence for a candidate's binary that breaks the rules.
  virtual void inspect(const std::string& binary, const std::string& architecture) const = 0;
  // True if code in it may know the addresses of its module's variables.
  virtual bool refers_to_variables(const std::string& binary, const std::string& architecture) const = 0;

  // Reads the clock of the device; empty when this host cannot.
  virtual std::function<ClockState()> clock_of(const std::string& pci_bus_id) const = 0;
  virtual std::function<DeviceHealth()> health_of(const std::string& /*pci_bus_id*/) const { return {}; }
};

}  // namespace sandbox::gpu::run
