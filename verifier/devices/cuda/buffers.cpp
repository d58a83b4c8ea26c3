#include "verifier/devices/cuda/buffers.h"

#include <utility>

namespace verifier::devices::cuda {
namespace {
constexpr size_t kAlignment = 256;  // what cudaMalloc promises, and kernels rely on
}

LentBuffer::LentBuffer(const Context& context, std::string name, size_t bytes, bool writable, statistics::Keys& keys)
    : writable_(writable),
      memory_(sandbox::cuda::driver::SharedMemory::make(context, bytes)),
      descriptor_(memory_.export_descriptor()) {
  const size_t places = (memory_.mapped_bytes() - bytes) / kAlignment;  // beyond the first
  const size_t place = keys.coin() ? places : keys.below(places + 1);
  buffer_ = {std::move(name), memory_.begin() + place * kAlignment, bytes};
}

std::vector<LentBuffer> make_inputs(const Context& context, const benchsuite::Problem& problem,
                                    const core::Bindings& axes, statistics::Keys& keys) {
  std::vector<LentBuffer> buffers;
  for (const benchsuite::Tensor& tensor : problem.inputs) {
    buffers.emplace_back(context, tensor.name, static_cast<size_t>(tensor.bytes(axes)), false, keys);
  }
  return buffers;
}

std::vector<LentBuffer> make_outputs(const Context& context, const benchsuite::Problem& problem,
                                     const core::Bindings& axes, statistics::Keys& keys) {
  std::vector<LentBuffer> buffers;
  for (const benchsuite::Tensor& tensor : problem.outputs) {
    buffers.emplace_back(context, tensor.name, static_cast<size_t>(tensor.bytes(axes)), true, keys);
  }
  return buffers;
}

std::vector<LentBuffer> make_workspaces(const Context& context,
                                        const std::vector<sandbox::PlannedWorkspace>& workspaces,
                                        statistics::Keys& keys) {
  std::vector<LentBuffer> buffers;
  for (const sandbox::PlannedWorkspace& workspace : workspaces) {
    buffers.emplace_back(context, workspace.name, static_cast<size_t>(workspace.bytes), true, keys);
  }
  return buffers;
}

std::vector<DeviceBuffer> device_buffers(const std::vector<LentBuffer>& lent) {
  std::vector<DeviceBuffer> buffers;
  for (const LentBuffer& buffer : lent) buffers.push_back(buffer.buffer());
  return buffers;
}

}  // namespace verifier::devices::cuda
