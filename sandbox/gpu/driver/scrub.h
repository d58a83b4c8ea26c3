// Overwrites on-chip state that a launch may leave on the device (shared memory, registers, local memory), so that the
// next launch finds none of it.
#pragma once

#include <array>
#include <cstddef>
#include <random>
#include <string>

#include "sandbox/gpu/driver/context.h"

namespace sandbox::gpu::driver {

class Scrub {
 public:
  // Each thread's stack, for functions without a static frame. The context must be limited to it.
  static constexpr size_t kStackBytes = 1024;

  // `own_kernels`: the compiled verifier/devices/gpu/run_kernels.cu.
  Scrub(const Context& context, const std::string& own_kernels);

  // Overwrites the shared memory and registers of every multiprocessor and, for kernels with `local_bytes` of local
  // memory per thread, that of every thread that can be resident, down to the end of the stack, which recursion may
  // reach. Each time with numbers from a key of its own. Does not wait.
  void enqueue(size_t local_bytes);

 private:
  static constexpr size_t kFrames[] = {256, 1024, 4096, 16384};  // bytes per thread

  Module module_;
  Function shared_, registers_;
  std::array<Function, std::size(kFrames)> local_;
  unsigned shared_bytes_, blocks_;
  std::mt19937_64 keys_;  // seeded by the system; in host memory, which device code cannot read
};

}  // namespace sandbox::gpu::driver
