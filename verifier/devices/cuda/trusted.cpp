#include "verifier/devices/cuda/trusted.h"

#include <utility>

#include "core/error.h"
#include "sandbox/cuda/inspection/cubin.h"

namespace verifier::devices::cuda {
using sandbox::cuda::driver::PrivateMemory;
using sandbox::cuda::run::DeviceBuffer;

TrustedSolution::TrustedSolution(const sandbox::cuda::driver::Context& context, const std::string& cubin,
                                 sandbox::Solution solution, sandbox::TunableBinding binding, bool wide_outputs)
    : context_(context),
      parameters_(sandbox::cuda::inspection::kernels_of(cubin)),
      module_(context, cubin),
      solution_(std::move(solution)),
      binding_(std::move(binding)),
      wide_outputs_(wide_outputs) {}

DeviceBuffer TrustedSolution::scratch(const std::string& name, size_t bytes) {
  PrivateMemory& memory = memory_[name];
  if (memory.bytes() < bytes) {
    memory = PrivateMemory();  // given back before more is taken
    memory = PrivateMemory(context_, bytes);
  }
  return {name, memory.address(), bytes};
}

const std::vector<DeviceBuffer>& TrustedSolution::run(const benchsuite::Problem& problem, const core::Bindings& axes,
                                                      const std::vector<DeviceBuffer>& inputs) {
  const sandbox::LaunchPlan plan = sandbox::bind_plan(solution_, binding_, axes, &problem);
  outputs_.clear();
  for (const benchsuite::Tensor& tensor : problem.outputs) {
    const bool wide = wide_outputs_ && core::is_floating(tensor.dtype);
    outputs_.push_back(
        scratch(tensor.name, static_cast<size_t>(wide ? tensor.elements(axes) * 8 : tensor.bytes(axes))));
  }
  std::vector<DeviceBuffer> buffers = inputs;
  buffers.insert(buffers.end(), outputs_.begin(), outputs_.end());
  for (const sandbox::PlannedWorkspace& workspace : plan.workspaces) {
    buffers.push_back(scratch(workspace.name, static_cast<size_t>(workspace.bytes)));
  }
  try {
    sandbox::cuda::run::PreparedPlan(context_, module_, parameters_, plan, buffers).enqueue();
  } catch (const sandbox::cuda::run::InvalidLaunch& invalid) {
    throw core::SystemError(solution_.file + " cannot be launched in the judge: " + invalid.what());
  }
  return outputs_;
}

std::vector<std::vector<std::byte>> TrustedSolution::fetch() const {
  std::vector<std::vector<std::byte>> results;
  for (const DeviceBuffer& output : outputs_) {
    results.emplace_back(output.bytes);
    context_.copy_to_host(results.back().data(), output.address, output.bytes);
  }
  return results;
}

}  // namespace verifier::devices::cuda
