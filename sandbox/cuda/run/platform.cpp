#include "sandbox/cuda/run/platform.h"

#include "sandbox/cuda/driver/driver.h"
#include "sandbox/cuda/driver/nvml.h"
#include "sandbox/cuda/inspection/cubin.h"

namespace sandbox::cuda::run {

gpu::driver::Driver CudaPlatform::open_driver() const { return driver::open_driver(); }

jail::JailFolders CudaPlatform::device_files() const {
  jail::JailFolders folders;
  folders.read_only = {"/proc/driver/nvidia"};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", none)) {
    if (entry.path().filename().string().rfind("nvidia", 0) == 0) folders.read_write.push_back(entry.path());
  }
  return folders;
}

std::map<std::string, int64_t> CudaPlatform::kernels_of(const std::string& binary) const {
  return inspection::kernels_of(binary);
}
void CudaPlatform::inspect(const std::string& binary, const std::string&) const { inspection::inspect_cubin(binary); }
bool CudaPlatform::refers_to_variables(const std::string& binary, const std::string&) const {
  return inspection::refers_to_variables(binary);
}

std::function<gpu::run::ClockState()> CudaPlatform::clock_of(const std::string& pci_bus_id) const {
  const driver::ClockMonitor clocks(pci_bus_id);
  if (!clocks.available()) return {};
  return [clocks] { return clocks.read(); };
}

std::function<gpu::run::DeviceHealth()> CudaPlatform::health_of(const std::string& pci_bus_id) const {
  const driver::ClockMonitor clocks(pci_bus_id);
  if (!clocks.available()) return {};
  return [clocks] { return clocks.health(); };
}

}  // namespace sandbox::cuda::run
