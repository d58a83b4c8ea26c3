// NVIDIA's side of sandbox/gpu/run/platform.h.
#pragma once

#include "sandbox/gpu/run/platform.h"

namespace sandbox::cuda::run {

class CudaPlatform : public gpu::run::Platform {
 public:
  std::string_view backend() const override { return "cuda"; }
  gpu::driver::Driver open_driver() const override;
  jail::JailFolders device_files() const override;
  std::map<std::string, int64_t> kernels_of(const std::string& binary) const override;
  void inspect(const std::string& binary, const std::string& architecture) const override;
  bool refers_to_variables(const std::string& binary, const std::string& architecture) const override;
  std::function<gpu::run::ClockState()> clock_of(const std::string& pci_bus_id) const override;
  std::function<gpu::run::DeviceHealth()> health_of(const std::string& pci_bus_id) const override;
};

}  // namespace sandbox::cuda::run
