// One candidate prepared on one shape, and the one path by which every launch of it goes: poison, launch, audit.
#pragma once

#include <optional>
#include <vector>

#include "benchsuite/problem.h"
#include "verifier/devices/cpu/buffers.h"
#include "verifier/devices/cpu/candidate_process.h"
#include "verifier/draws/inputs.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::devices::cpu {

// What an output must be: the reference's and the naive solution's, one byte vector per output tensor.
struct Expected {
  std::vector<std::vector<std::byte>> reference;  // floating outputs in double
  std::vector<std::vector<std::byte>> naive;      // in the problem's dtypes
  draws::Distribution distribution;               // of the inputs
  std::vector<Expected> neighbours;               // for inputs close by (neighbours.h)
};

class LaunchHarness {
 public:
  // The cell and the inputs must outlive the harness. A cell serves its newest harness only. Throws core::InputError
  // when the plan cannot be bound to this shape.
  LaunchHarness(const benchsuite::Problem& problem, const core::Bindings& axes, const std::vector<LentBuffer>& inputs,
                CandidateProcess& cell, const sandbox::Solution& solution, const sandbox::TunableBinding& binding);

  std::optional<judging::ProcessFailure> prepare();
  // Poisons outputs, workspaces and slack with patterns of `key`, then launches. Microseconds on the judge's clock.
  std::optional<judging::ProcessFailure> launch(sandbox::cpu::runtime::Order order, uint64_t key, double& elapsed_us);
  // Judges what the last launch left behind: slack first, then each output against what is expected. nullopt: right;
  // `worst_ratio` grows to the largest error relative to what the contract allows.
  std::optional<verdicts::Verdict> audit(const Expected& expected, const verdicts::Where& where,
                                         double& worst_ratio) const;

  // The bytes of output `index`. They change by launches only: a cell stands still in between.
  std::span<const std::byte> output(size_t index) const { return outputs_[index].memory.content(); }
  // How far this harness's outputs are from another's of the same problem, shape and inputs.
  double difference_from(const LaunchHarness& other) const;

 private:
  const benchsuite::Problem& problem_;
  core::Bindings axes_;
  const std::vector<LentBuffer>& inputs_;
  CandidateProcess& cell_;
  sandbox::LaunchPlan plan_;
  std::vector<LentBuffer> outputs_;  // the problem's outputs, then the workspaces
  uint64_t key_ = 0;
};

}  // namespace verifier::devices::cpu
