// Device memory that the judge of a GPU lends, and trusted solutions whose outputs are on the device.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/gpu/driver/context.h"
#include "sandbox/gpu/run/prepared_plan.h"
#include "verifier/devices/gpu/memory_pool.h"
#include "verifier/judging/judge_device.h"

namespace verifier::devices::gpu {

// Somewhere within mapped memory whose ends are followed by unmapped addresses. The place is drawn: half the time at
// the end, where the first byte too far is a fault, else anywhere; a multiple of 256 bytes either way.
class SharedBuffer : public judging::LentBuffer {
 public:
  // The pool must outlive it.
  SharedBuffer(MemoryPool& pool, std::string name, size_t bytes, bool writable, statistics::Keys& keys);
  ~SharedBuffer() override { pool_.give(std::move(lent_)); }

  sandbox::gpu::driver::DevicePtr address() const { return address_; }
  sandbox::gpu::run::DeviceBuffer buffer() const { return {name(), address_, bytes()}; }
  int64_t memory_id() const { return lent_.id; }
  int descriptor() const { return lent_.descriptor.get(); }
  size_t offset() const { return address_ - lent_.memory.begin(); }
  size_t mapped_bytes() const { return lent_.memory.mapped_bytes(); }
  sandbox::gpu::driver::DevicePtr slack_before() const { return lent_.memory.begin(); }
  sandbox::gpu::driver::DevicePtr slack_after() const { return address_ + bytes(); }
  size_t slack_after_bytes() const { return mapped_bytes() - offset() - bytes(); }

 private:
  MemoryPool& pool_;
  PooledMemory lent_;
  sandbox::gpu::driver::DevicePtr address_ = 0;
};

inline const SharedBuffer& shared(const judging::LentBuffer& buffer) {
  return static_cast<const SharedBuffer&>(buffer);
}

std::vector<std::byte> to_host(const sandbox::gpu::driver::Context& context, sandbox::gpu::driver::DevicePtr address,
                               size_t bytes);

class DeviceOutputs : public judging::TrustedSolution {
 public:
  // 0 where there was no run yet.
  virtual sandbox::gpu::driver::DevicePtr output(size_t index) const = 0;
};

// Asks a reference worker, which maps the inputs and writes the outputs. The context and the pool must outlive it.
std::unique_ptr<judging::TrustedSolution> make_pytorch_trusted(const sandbox::gpu::driver::Context& context,
                                                               MemoryPool& pool,
                                                               std::shared_ptr<reference::ReferenceChannel> channel,
                                                               bool in_double);

}  // namespace verifier::devices::gpu
