// A cell as the judge sees it: a channel to a process that it must not trust. Whatever comes back is either the
// expected answer or a failure of the candidate.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sandbox/channel.h"
#include "sandbox/cpu/module.h"
#include "sandbox/fault.h"
#include "sandbox/solution.h"
#include "verifier/cpu/buffers.h"

namespace verifier::cpu {

struct CellRefused {  // the binary was not loaded
  std::string message;
};
struct CellDied {};  // or answered what no honest cell answers; its owner knows the signal
struct CellSilent {  // no answer within the deadline
  double limit_s;
};
using CellFailure = std::variant<sandbox::Fault, CellRefused, CellDied, CellSilent>;

class CellClient {
 public:
  CellClient(sandbox::Channel channel, std::chrono::duration<double> deadline)
      : channel_(std::move(channel)), deadline_(deadline) {}

  // Waits until the candidate is loaded and the cell has locked itself.
  std::optional<CellFailure> await_loaded();
  // Maps these buffers (replacing earlier ones) and sets the launches that `go` performs.
  std::optional<CellFailure> prepare(const std::vector<LentBuffer>& inputs, const std::vector<LentBuffer>& outputs,
                                     const sandbox::LaunchPlan& plan);
  // Clears the zeroed workspaces and performs all launches once. `elapsed_us` is the time from request to answer on the
  // judge's clock, which no candidate can reach.
  std::optional<CellFailure> go(sandbox::cpu::Order order, uint64_t seed, double& elapsed_us);
  // The time of a request that does nothing: what `go` costs beyond the kernels.
  std::optional<CellFailure> ping(double& elapsed_us);

 private:
  std::optional<CellFailure> ask(const core::Json& request, const std::vector<int>& fds, double* elapsed_us);
  std::optional<CellFailure> await_answer(const char* expected, double* elapsed_us,
                                          std::chrono::steady_clock::time_point asked);

  sandbox::Channel channel_;
  std::chrono::duration<double> deadline_;
};

}  // namespace verifier::cpu
