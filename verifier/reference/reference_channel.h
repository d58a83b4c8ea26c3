// The channel over which a judge asks a reference worker (reference_worker.h) for the outputs of reference.py.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "core/unique_fd.h"
#include "sandbox/process/channel.h"

namespace verifier::reference {

class ReferenceChannel {
 public:
  explicit ReferenceChannel(core::UniqueFd socket) : channel_(std::move(socket)) {}

  // One tensor: its memory, and where in it the tensor lies.
  struct Place {
    std::string name;
    size_t offset = 0, mapped_bytes = 0;
    bool writable = false;
    int descriptor = -1;
  };
  // Computes every output from the inputs, and waits. `in_double`: floating tensors are computed in double and written
  // as such; otherwise both are in the problem's dtypes. Throws core::InputError when forward() fails,
  // core::SystemError when the worker does or is silent.
  void compute(const benchsuite::Problem& problem, const core::Bindings& axes, bool in_double,
               const std::vector<Place>& places);

  // Calls inputs() of reference.py with a key. Returns bytes by index of the input, empty for those that are not given,
  // or that there is no such data at this shape. Throws as compute() does, also when the data does not fit the inputs.
  struct OutsideDomain {
    std::string why;
  };
  using Given = std::vector<std::vector<std::byte>>;
  std::variant<Given, OutsideDomain> draw(const benchsuite::Problem& problem, const core::Bindings& axes, uint64_t key);

 private:
  core::Json ask(const core::Json& request, const std::vector<int>& descriptors);

  sandbox::process::Channel channel_;
};

// The bytes of an output of reference.py.
size_t output_bytes(const benchsuite::Tensor& tensor, const core::Bindings& axes, bool in_double);

}  // namespace verifier::reference
