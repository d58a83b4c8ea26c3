// The judge's memory on the cpu device: memory files that it owns, fills and audits, and lends to cells by descriptor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/unique_fd.h"
#include "sandbox/cpu/runtime/mapped_buffer.h"
#include "sandbox/cpu/runtime/module.h"
#include "sandbox/solution.h"

namespace verifier::devices::cpu {

// One tensor or workspace. The judge may write it; cells may write it only when `writable` (the kernel enforces that:
// the memory file of the others is sealed against every further writable mapping).
struct LentBuffer {
  std::string name;
  bool writable;
  core::UniqueFd fd;
  sandbox::cpu::runtime::MappedBuffer memory;

  // Throws core::SystemError.
  static LentBuffer make(std::string name, size_t bytes, bool writable);
};

// The inputs of a problem at one shape.
std::vector<LentBuffer> make_inputs(const benchsuite::Problem& problem, const core::Bindings& axes);
// The outputs and workspaces of one candidate at one shape. Each candidate has its own, so that none can read
// another's.
std::vector<LentBuffer> make_outputs(const benchsuite::Problem& problem, const core::Bindings& axes,
                                     const std::vector<sandbox::PlannedWorkspace>& workspaces);

// The buffers as the cpu device's runtime takes them, inputs first.
std::vector<sandbox::cpu::runtime::Buffer> device_buffers(const std::vector<LentBuffer>& inputs,
                                                          const std::vector<LentBuffer>& outputs);

}  // namespace verifier::devices::cpu
