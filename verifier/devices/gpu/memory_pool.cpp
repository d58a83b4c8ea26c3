#include "verifier/devices/gpu/memory_pool.h"

namespace verifier::devices::gpu {
namespace {
using sandbox::gpu::driver::SharedMemory;
constexpr size_t kMostOfOne = size_t{8} << 20, kMostKept = size_t{128} << 20;
}  // namespace

PooledMemory MemoryPool::take(size_t bytes, bool writable) {
  const size_t mapped_bytes = (bytes + granule_ - 1) / granule_ * granule_;
  const auto fitting = free_.find({mapped_bytes, writable});
  if (fitting == free_.end() || fitting->second.empty()) {
    SharedMemory memory = make(bytes);
    core::UniqueFd descriptor = memory.export_descriptor();
    return {std::move(memory), std::move(descriptor), ++made_, writable};
  }
  PooledMemory last = std::move(fitting->second.back());
  fitting->second.pop_back();
  free_bytes_ -= mapped_bytes;
  return last;
}

SharedMemory MemoryPool::make(size_t bytes) {
  try {
    return SharedMemory::make(context_, bytes);
  } catch (const sandbox::gpu::driver::DriverError&) {
    if (free_bytes_ == 0) throw;
  }
  free_.clear();
  free_bytes_ = 0;
  return SharedMemory::make(context_, bytes);
}

void MemoryPool::give(PooledMemory memory) {
  const size_t bytes = memory.memory.mapped_bytes();
  if (bytes > kMostOfOne || free_bytes_ + bytes > kMostKept) {
    context_->stream_synchronize(context_.stream());  // what is released must not be written any more
    return;
  }
  free_bytes_ += bytes;
  free_[{bytes, memory.writable}].push_back(std::move(memory));
}

}  // namespace verifier::devices::gpu
