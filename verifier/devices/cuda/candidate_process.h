// What the judge asks of a cell on a GPU.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "sandbox/solution.h"
#include "verifier/devices/cuda/buffers.h"
#include "verifier/judging/candidate_channel.h"

namespace verifier::devices::cuda {

struct Launched {
  double us = 0;       // between the events round the launches
  bool gated = false;  // the launches were queued before the device came to them: no gap is in the time
};

class CandidateProcess {
 public:
  // `prepare_deadline`: for prepare(), where a library may compile.
  CandidateProcess(sandbox::process::Channel channel, std::chrono::duration<double> deadline,
                   std::chrono::duration<double> prepare_deadline)
      : channel_(std::move(channel), deadline), prepare_deadline_(prepare_deadline) {}

  std::optional<judging::ProcessFailure> await_loaded() { return channel_.await_loaded(); }
  // Maps one set of buffers for each slot (replacing earlier ones) and makes the plan ready on each. `shape`: the axes
  // and what the buffers are, for a library, which goes by them and not by the plan (sandbox/cuda/cell.h).
  std::optional<judging::ProcessFailure> prepare(const std::vector<std::vector<const LentBuffer*>>& slots,
                                                 const sandbox::LaunchPlan& plan, core::Json shape);
  // Launches the plan on each of the first `slots` slots, in one sequence. `hot`: after a launch like it instead of
  // with a flushed L2 cache.
  std::variant<Launched, judging::ProcessFailure> go(size_t slots, bool hot);
  // The time of a sequence without launches, from its events.
  std::variant<Launched, judging::ProcessFailure> ping();

 private:
  std::variant<Launched, judging::ProcessFailure> timed(const core::Json& request);

  judging::CandidateChannel channel_;
  std::chrono::duration<double> prepare_deadline_;
};

}  // namespace verifier::devices::cuda
