// Overwrites what a launch may leave on the device besides memory, so that the next one finds nothing of it.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "sandbox/cuda/driver/context.h"

namespace sandbox::cuda::driver {

class Scrub {
 public:
  // `own_kernels`: the compiled verifier/cuda/run_kernels.cu.
  Scrub(const Context& context, const std::string& own_kernels);

  // Writes the shared memory and the registers of every multiprocessor and, for kernels whose threads keep
  // `local_bytes` each in local memory, that of every thread that can be resident; each time something else. Does not
  // wait.
  void enqueue(size_t local_bytes);

 private:
  static constexpr size_t kFrames[] = {256, 1024, 4096, 16384};  // bytes a thread

  Module module_;
  Function shared_, registers_;
  std::array<Function, std::size(kFrames)> local_;
  unsigned shared_bytes_, blocks_, pattern_ = 0;
};

}  // namespace sandbox::cuda::driver
