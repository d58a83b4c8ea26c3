#include "verifier/devices/gpu/memory_pool.h"

namespace verifier::devices::gpu {
namespace {
using sandbox::gpu::driver::SharedMemory;
constexpr size_t kMostOfOne = size_t{8} << 20, kMostKept = size_t{128} << 20;
}  // namespace

PooledMemory MemoryPool::take(size_t bytes, bool writable) {
  const size_t mapped_bytes = (bytes + granule_ - 1) / granule_ * granule_;
  std::vector<PooledMemory>& fitting = free_[{mapped_bytes, writable}];
  if (fitting.empty()) {
    SharedMemory memory = SharedMemory::make(context_, bytes);
    core::UniqueFd descriptor = memory.export_descriptor();
    return {std::move(memory), std::move(descriptor), ++made_, writable};
  }
  PooledMemory last = std::move(fitting.back());
  fitting.pop_back();
  free_bytes_ -= mapped_bytes;
  return last;
}

void MemoryPool::give(PooledMemory memory) {
  const size_t bytes = memory.memory.mapped_bytes();
  if (bytes > kMostOfOne || free_bytes_ + bytes > kMostKept) return;
  free_bytes_ += bytes;
  free_[{bytes, memory.writable}].push_back(std::move(memory));
}

}  // namespace verifier::devices::gpu
