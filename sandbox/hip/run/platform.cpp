#include "sandbox/hip/run/platform.h"

#include <utility>

#include "sandbox/hip/driver/driver.h"
#include "sandbox/hip/inspection/code_object.h"

namespace sandbox::hip::run {

HipPlatform::HipPlatform(std::filesystem::path library)
    : library_(std::move(library)), comgr_(inspection::Comgr::open()) {}

gpu::driver::Driver HipPlatform::open_driver() const { return driver::open_driver(library_); }

// The driver's two kinds of device files, and its description of the hardware.
jail::JailFolders HipPlatform::device_files() const {
  jail::JailFolders folders;
  folders.read_only = {"/sys/devices/virtual/kfd"};
  folders.read_write = {"/dev/kfd"};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/dri", none)) {
    if (entry.path().filename().string().starts_with("renderD")) folders.read_write.push_back(entry.path());
  }
  return folders;
}

std::map<std::string, int64_t> HipPlatform::kernels_of(const std::string& binary) const {
  return inspection::kernels_of(binary);
}
void HipPlatform::inspect(const std::string& binary, const std::string& architecture) const {
  inspection::inspect_code_object(binary, architecture, comgr_);
}
bool HipPlatform::refers_to_variables(const std::string& binary, const std::string& architecture) const {
  return inspection::refers_to_variables(binary, architecture, comgr_);
}
std::function<gpu::run::ClockState()> HipPlatform::clock_of(const std::string&) const { return {}; }

}  // namespace sandbox::hip::run
