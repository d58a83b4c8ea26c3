// Inspects a candidate's shared object before it is loaded, since loading alone can run code.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "sandbox/compilation.h"

namespace sandbox::cpu::inspection {

// Name of the flags by which g++ tracks whether it has constructed an array of a class such as __half.
inline constexpr const char* kConstructionGuard = "__kw_guard";
struct SharedVariable {  // a __shared__ variable: a symbol in thread-local storage
  std::string name;      // mangled
  uint64_t offset, bytes;
};

struct BinaryFacts {
  std::map<std::string, int64_t> kernels;  // by name: the number of parameters
  std::vector<SharedVariable> shared;      // by offset, gaps and dynamic memory included
  uint64_t shared_segment_bytes = 0;       // size of the thread-local segment
  uint64_t static_shared_bytes = 0;        // what the kernels' own variables take of it
  bool fills_locals = false;               // local variables that a declaration leaves unset (shim/kw_locals.h)
  std::vector<uint64_t> covered;           // in the covering build: the places that tell whether they have run
};

class BinaryRefused : public core::InputError {
 public:
  BinaryRefused(Rejection reason, const std::string& what) : core::InputError("", what), reason_(reason) {}
  Rejection reason() const { return reason_; }

 private:
  Rejection reason_;
};

// Throws BinaryRefused for instructions that no kernel needs (code_check.h), code that runs at load time, calls out of
// the device language, variables that keep state between launches, excessive sizes.
BinaryFacts inspect_binary(int binary_fd, Build build);

}  // namespace sandbox::cpu::inspection
