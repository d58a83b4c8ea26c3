// AMD's side of sandbox/gpu/run/platform.h.
#pragma once

#include <filesystem>

#include "sandbox/gpu/run/platform.h"
#include "sandbox/hip/inspection/comgr.h"

namespace sandbox::hip::run {

class HipPlatform : public gpu::run::Platform {
 public:
  // Opens comgr, for the inspection of binaries in a jail. `library`: see driver::open_driver. Throws core::SystemError
  // without comgr.
  explicit HipPlatform(std::filesystem::path library = {});

  std::string_view backend() const override { return "hip"; }
  gpu::driver::Driver open_driver() const override;
  jail::JailFolders device_files() const override;
  std::map<std::string, int64_t> kernels_of(const std::string& binary) const override;
  void inspect(const std::string& binary, const std::string& architecture) const override;
  bool refers_to_variables(const std::string& binary, const std::string& architecture) const override;
  // Empty: the clock is unknown. rocm_smi would tell it, and nobody could try that here.
  std::function<gpu::run::ClockState()> clock_of(const std::string& pci_bus_id) const override;

 private:
  std::filesystem::path library_;
  inspection::Comgr comgr_;
};

}  // namespace sandbox::hip::run
