#include "sandbox/gpu/run/gpu_jail.h"

namespace sandbox::gpu::run {

jail::JailReport enter_gpu_jail(const jail::Namespaces& namespaces, const Platform& platform) {
  jail::JailLimits limits;
  limits.address_space_bytes = 0;  // the driver reserves far more than it uses
  limits.open_files = 2048;
  return jail::enter_jail(jail::JailProfile::gpu, platform.device_files(), limits, namespaces);
}

}  // namespace sandbox::gpu::run
