// The problem's own solutions (reference and naive), run inside the judge's process. They come from the problem's
// folder, not from a candidate, so they are trusted not to harm; a fault of theirs is our failure.
#pragma once

#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/cpu/runtime/module.h"
#include "sandbox/solution.h"
#include "verifier/devices/cpu/buffers.h"

namespace verifier::devices::cpu {

class TrustedSolution {
 public:
  // `wide_outputs`: floating outputs are double, whatever the problem says (references).
  TrustedSolution(sandbox::cpu::runtime::Module module, sandbox::Solution solution, sandbox::TunableBinding binding,
                  bool wide_outputs);

  // The outputs for these inputs, one byte vector per output tensor of the problem. Throws core::SystemError on a
  // fault.
  std::vector<std::vector<std::byte>> run(const benchsuite::Problem& problem, const core::Bindings& axes,
                                          const std::vector<LentBuffer>& inputs);

 private:
  sandbox::cpu::runtime::Module module_;
  sandbox::Solution solution_;
  sandbox::TunableBinding binding_;
  bool wide_outputs_;
};

}  // namespace verifier::devices::cpu
