// Limits of a GPU, checked before a launch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/solution.h"

namespace sandbox::gpu::run {

// Comments name the CUDA driver's attribute (CU_DEVICE_ATTRIBUTE_...) and its number. Those with defaults are the same
// for all devices, AMD's too: HIP's are hipDeviceProp_t's maxThreadsPerBlock, maxThreadsDim, maxGridSize or more.
struct DeviceLimits {
  int compute_major = 0, compute_minor = 0;               // COMPUTE_CAPABILITY_MAJOR 75, _MINOR 76; AMD: 0
  int64_t multiprocessors = 0;                            // MULTIPROCESSOR_COUNT 16
  int64_t threads_per_block = 1024;                       // MAX_THREADS_PER_BLOCK 1
  std::array<int64_t, 3> block{1024, 1024, 64};           // MAX_BLOCK_DIM_X 2, _Y 3, _Z 4
  std::array<int64_t, 3> grid{2147483647, 65535, 65535};  // MAX_GRID_DIM_X 5, _Y 6, _Z 7
  int64_t shared_bytes_opt_in = 0;                        // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN 97; AMD: LDS of a block
  std::optional<int64_t> registers_per_block = 65536;     // MAX_REGISTERS_PER_BLOCK 12; AMD: no limit but the kernel's
  bool cooperative_launch = false;                        // COOPERATIVE_LAUNCH 95
  bool cluster_launch = false;                            // CLUSTER_LAUNCH 120
};

// The driver's facts about a loaded kernel, and about one launch of it.
struct KernelFacts {
  int64_t registers = 0;             // of one thread: cuFuncGetAttribute NUM_REGS 4
  int64_t static_shared_bytes = 0;   // SHARED_SIZE_BYTES 1
  int64_t threads_per_block = 1024;  // MAX_THREADS_PER_BLOCK 0: less with __launch_bounds__
  // Blocks of this launch that one multiprocessor holds at once: cuOccupancyMaxActiveBlocksPerMultiprocessor with the
  // launch's block size and dynamic shared memory. Only for cooperative launches.
  std::optional<int64_t> resident_blocks = {};
  // Clusters of this launch that the device holds at once: cuOccupancyMaxActiveClusters, with non-portable sizes
  // allowed. Only for clustered launches.
  std::optional<int64_t> resident_clusters = {};
};

// One sentence about the first limit that the launch exceeds; nullopt if the device can run it. Call it first without
// the residency facts (the driver rejects queries about launches that do not fit), then with them.
std::optional<std::string> why_not(const PlannedLaunch& launch, const DeviceLimits& device, const KernelFacts& kernel);

}  // namespace sandbox::gpu::run
