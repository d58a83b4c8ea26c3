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
  CellClient(sandbox::Channel channel, std::chrono::duration<double> deadline)
      : channel_(std::move(channel), deadline) {}

  std::optional<CellFailure> await_loaded() { return channel_.await_loaded(); }
  // Maps one set of buffers for each slot (replacing earlier ones) and makes the plan ready on each.
  std::optional<CellFailure> prepare(const std::vector<std::vector<const LentBuffer*>>& slots,
                                     const sandbox::LaunchPlan& plan);
  // Launches the plan on each of the first `slots` slots, in one sequence. `hot`: after a launch like it instead of
  // with a flushed L2 cache.
  std::variant<Launched, CellFailure> go(size_t slots, bool hot);
  // The time of a sequence without launches, from its events.
  std::variant<Launched, CellFailure> ping();

 private:
  std::variant<Launched, CellFailure> timed(const core::Json& request);

  CellChannel channel_;
};

}  // namespace verifier::cuda
