#include "verifier/devices/cpu/buffers.h"

#include <fcntl.h>
#include <linux/memfd.h>

#include <cerrno>
#include <utility>

#include "core/error.h"
#include "sandbox/process/channel.h"

namespace verifier::devices::cpu {
namespace {
using sandbox::cpu::runtime::MappedBuffer;
constexpr int kSealFutureWrite = 0x0010;                // F_SEAL_FUTURE_WRITE, Linux 5.1
constexpr int64_t kMostWorkspace = int64_t{128} << 20;  // bytes; a process may write files of 256 MiB
}  // namespace

LentBuffer LentBuffer::make(std::string name, size_t bytes, bool writable) {
  core::UniqueFd fd = sandbox::process::make_memory_file("tensor", sandbox::cpu::runtime::memory_file_bytes(bytes));
  MappedBuffer memory(fd.get(), bytes, MappedBuffer::Access::read_write);
  if (!writable && ::fcntl(fd.get(), F_ADD_SEALS, kSealFutureWrite) != 0) {
    throw core::SystemError("cannot seal an input against writing (needs Linux 5.1)", errno);
  }
  return {std::move(name), writable, std::move(fd), std::move(memory)};
}

std::vector<LentBuffer> make_inputs(const benchsuite::Problem& problem, const core::Bindings& axes) {
  std::vector<LentBuffer> buffers;
  for (const benchsuite::Tensor& tensor : problem.inputs) {
    buffers.push_back(LentBuffer::make(tensor.name, static_cast<size_t>(tensor.bytes(axes)), false));
  }
  return buffers;
}

std::vector<LentBuffer> make_outputs(const benchsuite::Problem& problem, const core::Bindings& axes,
                                     const std::vector<sandbox::PlannedWorkspace>& workspaces) {
  std::vector<LentBuffer> buffers;
  for (const benchsuite::Tensor& tensor : problem.outputs) {
    buffers.push_back(LentBuffer::make(tensor.name, static_cast<size_t>(tensor.bytes(axes)), true));
  }
  for (const sandbox::PlannedWorkspace& workspace : workspaces) {
    if (workspace.bytes > kMostWorkspace) {
      throw core::InputError("", "workspace " + workspace.name + " takes " + std::to_string(workspace.bytes) +
                                     " bytes; the cpu device has " + std::to_string(kMostWorkspace) + " for it");
    }
    buffers.push_back(LentBuffer::make(workspace.name, static_cast<size_t>(workspace.bytes), true));
  }
  return buffers;
}

std::vector<sandbox::cpu::runtime::Buffer> device_buffers(const std::vector<LentBuffer>& inputs,
                                                          const std::vector<LentBuffer>& outputs) {
  std::vector<sandbox::cpu::runtime::Buffer> buffers;
  for (const auto* group : {&inputs, &outputs}) {
    for (const LentBuffer& buffer : *group) {
      const std::span<std::byte> content = buffer.memory.content();
      buffers.push_back({buffer.name, content.data(), content.size(), buffer.writable});
    }
  }
  return buffers;
}

}  // namespace verifier::devices::cpu
