#include "verifier/devices/cpu/trusted.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace verifier::devices::cpu {
namespace {
using sandbox::cpu::runtime::Buffer;

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

sandbox::cpu::runtime::KernelLaunch bind_args(const sandbox::PlannedLaunch& planned,
                                              const std::vector<Buffer>& buffers) {
  sandbox::cpu::runtime::KernelLaunch launch{
      planned.kernel, planned.grid, planned.block, static_cast<size_t>(planned.shared_bytes), {}};
  for (const sandbox::PlanArg& arg : planned.args) {
    if (const auto* scalar = std::get_if<sandbox::ScalarArg>(&arg)) {
      launch.args.push_back(bytes_of(scalar->value));
      continue;
    }
    const std::string& name = std::get<sandbox::BufferArg>(arg).name;
    const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.name == name; });
    if (found == buffers.end()) throw core::SystemError("a trusted plan names an unknown buffer: " + name);
    launch.args.push_back(bytes_of(found->data));
  }
  return launch;
}
}  // namespace

TrustedSolution::TrustedSolution(sandbox::cpu::runtime::Module module, sandbox::Solution solution,
                                 sandbox::TunableBinding binding, bool wide_outputs)
    : module_(std::move(module)),
      solution_(std::move(solution)),
      binding_(std::move(binding)),
      wide_outputs_(wide_outputs) {}

std::vector<std::vector<std::byte>> TrustedSolution::run(const benchsuite::Problem& problem, const core::Bindings& axes,
                                                         const std::vector<LentBuffer>& inputs) {
  const sandbox::LaunchPlan plan = sandbox::bind_plan(solution_, binding_, axes);
  std::vector<LentBuffer> outputs;
  for (const benchsuite::Tensor& tensor : problem.outputs) {
    const bool wide = wide_outputs_ && core::is_floating(tensor.dtype);
    const int64_t bytes = wide ? tensor.elements(axes) * 8 : tensor.bytes(axes);
    outputs.push_back(LentBuffer::make(tensor.name, static_cast<size_t>(bytes), true));
  }
  for (const sandbox::PlannedWorkspace& workspace : plan.workspaces) {
    outputs.push_back(LentBuffer::make(workspace.name, static_cast<size_t>(workspace.bytes), true));
  }
  const std::vector<Buffer> buffers = device_buffers(inputs, outputs);  // fresh memory files are zeroed
  for (const sandbox::PlannedLaunch& planned : plan.launches) {
    if (const auto fault =
            module_.launch(bind_args(planned, buffers), buffers, sandbox::cpu::runtime::Order::forward, 0)) {
      throw core::SystemError(solution_.file + " faulted in the judge: " + fault->describe());
    }
  }
  std::vector<std::vector<std::byte>> results;
  for (size_t i = 0; i < problem.outputs.size(); ++i) {
    const std::span<std::byte> content = outputs[i].memory.content();
    results.emplace_back(content.begin(), content.end());
  }
  return results;
}

}  // namespace verifier::devices::cpu
