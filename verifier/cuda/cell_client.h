// What the judge asks of a cell on a GPU.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "sandbox/solution.h"
#include "verifier/cell_channel.h"
#include "verifier/cuda/buffers.h"

namespace verifier::cuda {

struct Launched {
  double us = 0;       // between the events round the launches
  bool gated = false;  // the launches were queued before the device came to them: no gap is in the time
};

class CellClient {
 public:
  // `prepare_deadline`: for prepare(), where a library may compile.
  CellClient(sandbox::process::Channel channel, std::chrono::duration<double> deadline,
             std::chrono::duration<double> prepare_deadline)
      : channel_(std::move(channel), deadline), prepare_deadline_(prepare_deadline) {}

  std::optional<CellFailure> await_loaded() { return channel_.await_loaded(); }
  // Maps one set of buffers for each slot (replacing earlier ones) and makes the plan ready on each. `shape`: the axes
  // and what the buffers are, for a library, which goes by them and not by the plan (sandbox/cuda/run/loaded_candidate.h).
  std::optional<CellFailure> prepare(const std::vector<std::vector<const LentBuffer*>>& slots,
                                     const sandbox::LaunchPlan& plan, core::Json shape);
  // Launches the plan on each of the first `slots` slots, in one sequence. `hot`: after a launch like it instead of
  // with a flushed L2 cache.
  std::variant<Launched, CellFailure> go(size_t slots, bool hot);
  // The time of a sequence without launches, from its events.
  std::variant<Launched, CellFailure> ping();

 private:
  std::variant<Launched, CellFailure> timed(const core::Json& request);

  CellChannel channel_;
  std::chrono::duration<double> prepare_deadline_;
};

}  // namespace verifier::cuda
