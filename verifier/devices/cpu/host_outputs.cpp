#include "verifier/devices/cpu/host_outputs.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include "core/error.h"
#include "sandbox/jail/jail.h"
#include "sandbox/process/channel.h"

namespace verifier::devices::cpu {
namespace {
constexpr int kSealFutureWrite = 0x0010;  // F_SEAL_FUTURE_WRITE, Linux 5.1

core::UniqueFd file_for(const std::string& tensor, size_t bytes) {
  require_room(tensor, bytes);
  return sandbox::process::make_memory_file("tensor", sandbox::cpu::memory::memory_file_bytes(bytes));
}

class PytorchTrusted : public HostOutputs {
 public:
  PytorchTrusted(std::shared_ptr<reference::ReferenceChannel> channel, bool in_double)
      : channel_(std::move(channel)), in_double_(in_double) {}

  void run(const benchsuite::Problem& problem, const core::Bindings& axes,
           const judging::TensorBytes& inputs) override {
    judging::LentBuffers lent;
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto file = std::make_unique<MemoryFile>(problem.inputs[i].name, inputs[i].size(), false);
      std::ranges::copy(inputs[i], file->content().begin());
      lent.push_back(std::move(file));
    }
    run(problem, axes, lent);
  }
  void run(const benchsuite::Problem& problem, const core::Bindings& axes,
           const judging::LentBuffers& inputs) override {
    outputs_.clear();
    memory_.clear();
    std::vector<reference::ReferenceChannel::Place> places;
    const auto add = [&](const MemoryFile& file) {
      places.push_back({file.name(), file.offset(), file.mapped_bytes(), file.writable(), file.fd()});
    };
    for (const auto& input : inputs) add(file_of(*input));
    for (const benchsuite::Tensor& tensor : problem.outputs) {
      add(memory_.emplace_back(tensor.name, reference::output_bytes(tensor, axes, in_double_), true));
    }
    channel_->compute(problem, axes, in_double_, places);
    for (const MemoryFile& output : memory_) outputs_.emplace_back(output.content());
  }

 private:
  std::shared_ptr<reference::ReferenceChannel> channel_;
  bool in_double_;
  std::deque<MemoryFile> memory_;  // of the outputs
};
}  // namespace

void require_room(const std::string& tensor, size_t bytes) {
  // The kernel would end a process that makes a larger memory file.
  const size_t most = sandbox::jail::JailLimits{}.file_bytes;
  if (sandbox::cpu::memory::memory_file_bytes(bytes) <= most) return;
  throw core::InputError(tensor,
                         "takes " + std::to_string(bytes >> 20) + " MiB, more than the " + std::to_string(most >> 20) +
                             " MiB that a tensor has on the cpu device (double where the reference computes it)",
                         "judge on a GPU, or give the cpu device smaller workloads in problem.json");
}

MemoryFile::MemoryFile(std::string name, size_t bytes, bool writable)
    : LentBuffer(std::move(name), bytes, writable),
      fd_(file_for(LentBuffer::name(), bytes)),
      memory_(fd_.get(), bytes, sandbox::cpu::memory::MappedBuffer::Access::read_write) {
  if (!writable && ::fcntl(fd_.get(), F_ADD_SEALS, kSealFutureWrite) != 0) {
    throw core::SystemError("cannot seal an input against writing (needs Linux 5.1)", errno);
  }
}

std::unique_ptr<judging::TrustedSolution> make_pytorch_trusted(std::shared_ptr<reference::ReferenceChannel> channel,
                                                               bool in_double) {
  return std::make_unique<PytorchTrusted>(std::move(channel), in_double);
}

}  // namespace verifier::devices::cpu
