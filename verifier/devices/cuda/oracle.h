// A problem with its trusted solutions loaded on the GPU: draws inputs and knows the right outputs.
#pragma once

#include <map>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/devices/cuda/buffers.h"
#include "verifier/devices/cuda/device_work.h"
#include "verifier/devices/cuda/trusted.h"
#include "verifier/draws/inputs.h"
#include "verifier/judging/dependence.h"

namespace verifier::devices::cuda {

// What an output must be, on the device until the next draw, in the judge's own memory.
struct Expected {
  std::vector<DeviceBuffer> reference;  // floating outputs in double
  std::vector<DeviceBuffer> naive;      // in the problem's dtypes; zeros where its errors are known
  draws::Distribution distribution = draws::Distribution::ordinary;  // of the inputs
  bool naive_known = false;                                          // from an earlier draw (Oracle::naive_tiles)
  struct Neighbour {
    std::vector<std::vector<std::byte>> reference, naive;
  };
  std::vector<Neighbour> neighbours;  // on the host; for inputs close by (neighbours.h)
};

class Oracle {
 public:
  Oracle(const Context& context, DeviceWork& work, benchsuite::Problem problem, TrustedSolution reference,
         TrustedSolution naive)
      : context_(context),
        work_(work),
        problem_(std::move(problem)),
        reference_(std::move(reference)),
        naive_(std::move(naive)) {}

  const benchsuite::Problem& problem() const { return problem_; }
  const Context& context() const { return context_; }
  DeviceWork& work() { return work_; }

  // Fills every input from `key`, and waits. Inputs to which the distribution does not apply are drawn as usual.
  void fill(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, draws::Distribution distribution,
            uint64_t key);
  // Throws core::SystemError when a trusted solution faults. What the naive solution errs by in a large output hardly
  // changes from one ordinary draw to the next: once it is known for a shape, only the reference is computed, unless
  // `with_naive`.
  Expected expected(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, draws::Distribution distribution,
                    bool with_naive = false);
  // What the trusted solutions make of these inputs, on the host.
  judging::TrustedOutputs run_trusted(const core::Bindings& axes, const judging::TensorBytes& inputs);
  // The naive solution's errors at a shape, by output; empty until they are seen. For whoever compares to fill.
  std::vector<std::vector<comparison::NaiveTile>>& naive_tiles(const core::Bindings& axes) {
    return naive_tiles_[axes];
  }

 private:
  bool knows_naive(const core::Bindings& axes, draws::Distribution distribution) const;
  std::vector<DeviceBuffer> zeros(const core::Bindings& axes);
  void add_neighbours(Expected& expected, const std::vector<LentBuffer>& inputs, const core::Bindings& axes);

  const Context& context_;
  DeviceWork& work_;
  benchsuite::Problem problem_;
  TrustedSolution reference_, naive_;
  std::map<core::Bindings, std::vector<std::vector<comparison::NaiveTile>>> naive_tiles_;
  sandbox::cuda::driver::PrivateMemory zeros_;
};

}  // namespace verifier::devices::cuda
