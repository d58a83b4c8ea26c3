#include "sandbox/gpu/run/limits.h"

#include <algorithm>

namespace sandbox::gpu::run {
namespace {
using Refusal = std::optional<std::string>;

int64_t product(const std::array<int64_t, 3>& extent) { return extent[0] * extent[1] * extent[2]; }

std::string capability(const DeviceLimits& device) {
  return std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
}

// The refusal of a feature of compute capability 9.0.
Refusal needs_hopper(const std::string& what, const DeviceLimits& device) {
  const std::string needs = what + " needs an NVIDIA GPU of compute capability 9.0";
  return device.compute_major == 0 ? needs
                                   : what + " needs compute capability 9.0; this device has " + capability(device);
}

Refusal refuse_extents(const PlannedLaunch& launch, const DeviceLimits& device, const KernelFacts& kernel) {
  for (size_t d = 0; d < 3; ++d) {
    const std::string axis(1, "xyz"[d]);
    if (launch.block[d] > device.block[d]) {
      return "block." + axis + " is " + std::to_string(launch.block[d]) + "; this device allows " +
             std::to_string(device.block[d]);
    }
    if (launch.grid[d] > device.grid[d]) {
      return "grid." + axis + " is " + std::to_string(launch.grid[d]) + "; this device allows " +
             std::to_string(device.grid[d]);
    }
  }
  const int64_t threads = product(launch.block);
  if (threads > device.threads_per_block) {
    return "a block has " + std::to_string(threads) + " threads; this device allows " +
           std::to_string(device.threads_per_block);
  }
  // Warps of 32 threads get registers in units of 256.
  const int64_t warps = (threads + 31) / 32;
  const int64_t registers = warps * ((kernel.registers * 32 + 255) / 256 * 256);
  if (device.registers_per_block && registers > *device.registers_per_block) {
    return std::to_string(threads) + " threads of " + std::to_string(kernel.registers) + " registers take " +
           std::to_string(registers) + " registers; this device has " + std::to_string(*device.registers_per_block) +
           " for a block";
  }
  if (threads > kernel.threads_per_block) {
    return "a block has " + std::to_string(threads) + " threads; the kernel was compiled for at most " +
           std::to_string(kernel.threads_per_block) + " (__launch_bounds__)";
  }
  return std::nullopt;
}

Refusal refuse_shared(const PlannedLaunch& launch, const DeviceLimits& device, const KernelFacts& kernel) {
  const int64_t total = kernel.static_shared_bytes + launch.shared_bytes;
  if (total <= device.shared_bytes_opt_in) return std::nullopt;
  return "a block takes " + std::to_string(total) + " bytes of shared memory (" +
         std::to_string(kernel.static_shared_bytes) + " static, " + std::to_string(launch.shared_bytes) +
         " dynamic); this device allows " + std::to_string(device.shared_bytes_opt_in);
}

Refusal refuse_cluster(const PlannedLaunch& launch, const DeviceLimits& device, const KernelFacts& kernel) {
  if (!launch.clustered()) return std::nullopt;
  const int64_t blocks = product(launch.cluster);
  if (device.compute_major < 9) return needs_hopper("a cluster of " + std::to_string(blocks) + " blocks", device);
  if (!device.cluster_launch) return "this device launches no clusters";
  if (kernel.resident_clusters && *kernel.resident_clusters == 0) {
    return "no cluster of " + std::to_string(blocks) + " blocks of " + std::to_string(product(launch.block)) +
           " threads, " + std::to_string(kernel.registers) + " registers each and " +
           std::to_string(kernel.static_shared_bytes + launch.shared_bytes) +
           " bytes of shared memory fits this device (8 blocks is the portable limit)";
  }
  return std::nullopt;
}

Refusal refuse_cooperative(const PlannedLaunch& launch, const DeviceLimits& device, const KernelFacts& kernel) {
  if (!launch.cooperative) return std::nullopt;
  if (!device.cooperative_launch) return "this device has no cooperative launch";
  const int64_t blocks = product(launch.grid);
  if (kernel.resident_clusters && launch.clustered()) {
    const int64_t held = *kernel.resident_clusters * product(launch.cluster);
    if (blocks <= held) return std::nullopt;
    return "a cooperative launch of " + std::to_string(blocks) + " blocks; this device holds " + std::to_string(held) +
           " of them at once, in " + std::to_string(*kernel.resident_clusters) + " clusters";
  }
  if (!kernel.resident_blocks) return std::nullopt;
  const int64_t held = *kernel.resident_blocks * device.multiprocessors;
  if (blocks <= held) return std::nullopt;
  return "a cooperative launch of " + std::to_string(blocks) + " blocks; this device holds " + std::to_string(held) +
         " of them at once, " + std::to_string(*kernel.resident_blocks) + " on each of " +
         std::to_string(device.multiprocessors) + " multiprocessors";
}

Refusal refuse_features(const PlannedLaunch& launch, const DeviceLimits& device) {
  if (device.compute_major >= 9) return std::nullopt;
  const auto* map = [&]() -> const TensorMapArg* {
    for (const PlanArg& arg : launch.args) {
      if (const auto* found = std::get_if<TensorMapArg>(&arg)) return found;
    }
    return nullptr;
  }();
  if (map != nullptr) return needs_hopper("the tensor map \"" + map->name + "\"", device);
  if (launch.overlaps_previous) return needs_hopper("a launch that overlaps the previous one", device);
  return std::nullopt;
}
}  // namespace

std::optional<std::string> why_not(const PlannedLaunch& launch, const DeviceLimits& device, const KernelFacts& kernel) {
  if (auto no = refuse_features(launch, device)) return no;
  if (auto no = refuse_extents(launch, device, kernel)) return no;
  if (auto no = refuse_shared(launch, device, kernel)) return no;
  if (auto no = refuse_cluster(launch, device, kernel)) return no;
  return refuse_cooperative(launch, device, kernel);
}

}  // namespace sandbox::gpu::run
