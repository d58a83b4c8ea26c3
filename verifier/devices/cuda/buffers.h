// The judge's memory on a GPU: tensors and workspaces that it owns, fills and audits, and lends to run workers by
// descriptor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/unique_fd.h"
#include "sandbox/cuda/driver/shared_memory.h"
#include "sandbox/cuda/run/prepared_plan.h"
#include "sandbox/solution.h"
#include "verifier/statistics/keys.h"

namespace verifier::devices::cuda {

using sandbox::cuda::driver::Context;
using sandbox::cuda::driver::DevicePtr;
using sandbox::cuda::run::DeviceBuffer;

// One tensor or workspace, somewhere within mapped memory whose ends are followed by unmapped addresses. What lies
// around the content is slack, which nobody may write.
class LentBuffer {
 public:
  // The place within the memory is drawn from `keys`: half the time at its end, where the first byte too far is a
  // fault, else anywhere; a multiple of 256 bytes either way. Throws DriverError.
  LentBuffer(const Context& context, std::string name, size_t bytes, bool writable, statistics::Keys& keys);

  const std::string& name() const { return buffer_.name; }
  const DeviceBuffer& buffer() const { return buffer_; }
  bool writable() const { return writable_; }
  int descriptor() const { return descriptor_.get(); }
  size_t offset() const { return buffer_.address - memory_.begin(); }
  size_t mapped_bytes() const { return memory_.mapped_bytes(); }
  DevicePtr slack_after() const { return buffer_.address + buffer_.bytes; }
  size_t slack_after_bytes() const { return mapped_bytes() - offset() - buffer_.bytes; }
  DevicePtr slack_before() const { return memory_.begin(); }

 private:
  bool writable_;
  sandbox::cuda::driver::SharedMemory memory_;
  core::UniqueFd descriptor_;
  DeviceBuffer buffer_;
};

std::vector<LentBuffer> make_inputs(const Context& context, const benchsuite::Problem& problem,
                                    const core::Bindings& axes, statistics::Keys& keys);
std::vector<LentBuffer> make_outputs(const Context& context, const benchsuite::Problem& problem,
                                     const core::Bindings& axes, statistics::Keys& keys);
std::vector<LentBuffer> make_workspaces(const Context& context,
                                        const std::vector<sandbox::PlannedWorkspace>& workspaces,
                                        statistics::Keys& keys);

std::vector<DeviceBuffer> device_buffers(const std::vector<LentBuffer>& lent);

}  // namespace verifier::devices::cuda
