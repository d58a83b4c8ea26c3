// Device memory that the judge lends again and again: to make it, and to map it in two processes, takes longer than
// most of what is done at a small shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/unique_fd.h"
#include "sandbox/gpu/driver/context.h"
#include "sandbox/gpu/driver/shared_memory.h"

namespace verifier::devices::gpu {

struct PooledMemory {
  sandbox::gpu::driver::SharedMemory memory;
  core::UniqueFd descriptor;
  int64_t id = 0;  // no two have the same
  bool writable = false;
};

// Memory that other processes may write is never lent to be read alone, nor the other way round: they keep it mapped.
// The context must outlive the pool. Throws DriverError.
class MemoryPool {
 public:
  explicit MemoryPool(const sandbox::gpu::driver::Context& context)
      : context_(context), granule_(sandbox::gpu::driver::granularity(context)) {}

  // At least `bytes`, in whole granules; its content is undefined.
  PooledMemory take(size_t bytes, bool writable);
  // Large memory is released.
  void give(PooledMemory memory);

 private:
  // Releases what is free where there is not enough.
  sandbox::gpu::driver::SharedMemory make(size_t bytes);

  const sandbox::gpu::driver::Context& context_;
  size_t granule_;
  int64_t made_ = 0;
  std::map<std::pair<size_t, bool>, std::vector<PooledMemory>> free_;  // by size and by who may write
  size_t free_bytes_ = 0;
};

}  // namespace verifier::devices::gpu
