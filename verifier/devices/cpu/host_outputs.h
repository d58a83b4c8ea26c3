// Memory files that the judge of the cpu device owns, and trusted solutions whose outputs are in its memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/unique_fd.h"
#include "sandbox/cpu/memory/mapped_buffer.h"
#include "verifier/judging/judge_device.h"

namespace verifier::devices::cpu {

// Throws core::InputError where the cpu device has no room for so large a tensor.
void require_room(const std::string& tensor, size_t bytes);

// The kernel enforces `writable`: the memory file of an input is sealed against every further writable mapping.
class MemoryFile : public judging::LentBuffer {
 public:
  // Throws as require_room() does, and core::SystemError.
  MemoryFile(std::string name, size_t bytes, bool writable);

  int fd() const { return fd_.get(); }
  const sandbox::cpu::memory::MappedBuffer& memory() const { return memory_; }
  std::span<std::byte> content() const { return memory_.content(); }
  size_t offset() const { return static_cast<size_t>(content().data() - memory_.slack_before().data()); }
  size_t mapped_bytes() const { return sandbox::cpu::memory::memory_file_bytes(bytes()); }

 private:
  core::UniqueFd fd_;
  sandbox::cpu::memory::MappedBuffer memory_;
};

inline const MemoryFile& file_of(const judging::LentBuffer& buffer) { return static_cast<const MemoryFile&>(buffer); }

class HostOutputs : public judging::TrustedSolution {
 public:
  judging::TensorBytes fetch() const override {
    judging::TensorBytes outputs;
    for (const std::span<const std::byte> output : outputs_) outputs.emplace_back(output.begin(), output.end());
    return outputs;
  }
  // Empty where there was no run yet.
  std::span<const std::byte> output(size_t index) const {
    return index < outputs_.size() ? outputs_[index] : std::span<const std::byte>();
  }

 protected:
  std::vector<std::span<const std::byte>> outputs_;  // of the last run, whose memory is the solution's
};

// Asks a reference worker, which maps the inputs and writes the outputs.
std::unique_ptr<judging::TrustedSolution> make_pytorch_trusted(std::shared_ptr<reference::ReferenceChannel> channel,
                                                               bool in_double);

}  // namespace verifier::devices::cpu
