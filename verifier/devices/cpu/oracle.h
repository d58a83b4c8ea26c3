// A problem with its trusted solutions loaded: draws inputs and knows the right outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/devices/cpu/launch_harness.h"
#include "verifier/devices/cpu/trusted.h"
#include "verifier/draws/inputs.h"
#include "verifier/judging/dependence.h"

namespace verifier::devices::cpu {

class Oracle {
 public:
  Oracle(benchsuite::Problem problem, TrustedSolution reference, TrustedSolution naive)
      : problem_(std::move(problem)), reference_(std::move(reference)), naive_(std::move(naive)) {}

  const benchsuite::Problem& problem() const { return problem_; }

  // Fills every input from `key`. Inputs to which the distribution does not apply are drawn as usual.
  void fill(const std::vector<LentBuffer>& inputs, const core::Bindings& axes, draws::Distribution distribution,
            uint64_t key) const;
  // With neighbours where they are wanted. Throws core::SystemError when a trusted solution faults.
  Expected expected(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                    draws::Distribution distribution);
  // What the trusted solutions make of these inputs.
  judging::TrustedOutputs run_trusted(const core::Bindings& axes, const judging::TensorBytes& inputs);

 private:
  std::vector<LentBuffer> jittered(const std::vector<LentBuffer>& inputs, const core::Bindings& axes,
                                   uint64_t neighbour) const;

  benchsuite::Problem problem_;
  TrustedSolution reference_, naive_;
};

}  // namespace verifier::devices::cpu
