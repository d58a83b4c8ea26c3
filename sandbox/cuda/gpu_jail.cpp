#include "sandbox/cuda/gpu_jail.h"

namespace sandbox::cuda {

JailReport enter_gpu_jail(const Namespaces& namespaces) {
  JailFolders folders;
  folders.read_only = {"/proc/driver/nvidia"};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", none)) {
    if (entry.path().filename().string().rfind("nvidia", 0) == 0) folders.read_write.push_back(entry.path());
  }
  JailLimits limits;
  limits.address_space_bytes = 0;  // the driver reserves far more than it uses
  limits.open_files = 1024;
  return enter_jail(JailProfile::gpu, folders, limits, namespaces);
}

}  // namespace sandbox::cuda
