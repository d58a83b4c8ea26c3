// The problem's own solutions (reference and naive), run in the judge's context. They come from the problem's folder,
// not from a candidate, so they are trusted not to harm; a fault of theirs is our failure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/cuda/run/prepared_plan.h"
#include "sandbox/solution.h"

namespace verifier::devices::cuda {

class TrustedSolution {
 public:
  // `wide_outputs`: floating outputs are double, whatever the problem says (references).
  TrustedSolution(const sandbox::cuda::driver::Context& context, const std::string& cubin, sandbox::Solution solution,
                  sandbox::TunableBinding binding, bool wide_outputs);

  // Enqueues the computation of the outputs for these inputs. The buffers (one per output tensor of the problem) are
  // its own and hold until the next run. Throws core::SystemError.
  const std::vector<sandbox::cuda::run::DeviceBuffer>& run(const benchsuite::Problem& problem,
                                                           const core::Bindings& axes,
                                                           const std::vector<sandbox::cuda::run::DeviceBuffer>& inputs);
  // The outputs of the last run, on the host.
  std::vector<std::vector<std::byte>> fetch() const;

 private:
  sandbox::cuda::run::DeviceBuffer scratch(const std::string& name, size_t bytes);

  const sandbox::cuda::driver::Context& context_;
  std::map<std::string, int64_t> parameters_;
  sandbox::cuda::driver::Module module_;
  sandbox::Solution solution_;
  sandbox::TunableBinding binding_;
  bool wide_outputs_;
  std::map<std::string, sandbox::cuda::driver::PrivateMemory> memory_;  // by name; grows as shapes ask for more
  std::vector<sandbox::cuda::run::DeviceBuffer> outputs_;
};

}  // namespace verifier::devices::cuda
