#include "sandbox/cuda/run/gpu_jail.h"

namespace sandbox::cuda::run {

jail::JailReport enter_gpu_jail(const jail::Namespaces& namespaces) {
  jail::JailFolders folders;
  folders.read_only = {"/proc/driver/nvidia"};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", none)) {
    if (entry.path().filename().string().rfind("nvidia", 0) == 0) folders.read_write.push_back(entry.path());
  }
  jail::JailLimits limits;
  limits.address_space_bytes = 0;  // the driver reserves far more than it uses
  limits.open_files = 2048;
  return jail::enter_jail(jail::JailProfile::gpu, folders, limits, namespaces);
}

}  // namespace sandbox::cuda::run
