// Device memory that the judge of a GPU lends, and trusted solutions whose outputs are on the device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/unique_fd.h"
#include "sandbox/gpu/driver/context.h"
#include "sandbox/gpu/driver/shared_memory.h"
#include "sandbox/gpu/run/prepared_plan.h"
#include "verifier/judging/judge_device.h"

namespace verifier::devices::gpu {

// Somewhere within mapped memory whose ends are followed by unmapped addresses. The place is drawn: half the time at
// the end, where the first byte too far is a fault, else anywhere; a multiple of 256 bytes either way.
class SharedBuffer : public judging::LentBuffer {
 public:
  SharedBuffer(const sandbox::gpu::driver::Context& context, std::string name, size_t bytes, bool writable,
               statistics::Keys& keys);

  sandbox::gpu::driver::DevicePtr address() const { return address_; }
  sandbox::gpu::run::DeviceBuffer buffer() const { return {name(), address_, bytes()}; }
  int descriptor() const { return descriptor_.get(); }
  size_t offset() const { return address_ - memory_.begin(); }
  size_t mapped_bytes() const { return memory_.mapped_bytes(); }
  sandbox::gpu::driver::DevicePtr slack_before() const { return memory_.begin(); }
  sandbox::gpu::driver::DevicePtr slack_after() const { return address_ + bytes(); }
  size_t slack_after_bytes() const { return mapped_bytes() - offset() - bytes(); }

 private:
  sandbox::gpu::driver::SharedMemory memory_;
  core::UniqueFd descriptor_;
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

// Asks a reference worker, which maps the inputs and writes the outputs. The context must outlive it.
std::unique_ptr<judging::TrustedSolution> make_pytorch_trusted(const sandbox::gpu::driver::Context& context,
                                                               std::shared_ptr<reference::ReferenceChannel> channel,
                                                               bool in_double);

}  // namespace verifier::devices::gpu
