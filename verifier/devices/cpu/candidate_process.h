// What the judge asks of a cell on the cpu device.
#pragma once

#include <optional>
#include <vector>

#include "sandbox/cpu/runtime/module.h"
#include "sandbox/solution.h"
#include "verifier/devices/cpu/buffers.h"
#include "verifier/judging/candidate_channel.h"

namespace verifier::devices::cpu {

class CandidateProcess {
 public:
  CandidateProcess(sandbox::process::Channel channel, std::chrono::duration<double> deadline)
      : channel_(std::move(channel), deadline) {}

  // Waits until the candidate is loaded and the cell has locked itself.
  std::optional<judging::ProcessFailure> await_loaded() { return channel_.await_loaded(); }
  // Maps these buffers (replacing earlier ones) and sets the launches that `go` performs.
  std::optional<judging::ProcessFailure> prepare(const std::vector<LentBuffer>& inputs,
                                                 const std::vector<LentBuffer>& outputs,
                                                 const sandbox::LaunchPlan& plan);
  // Clears the zeroed workspaces and performs all launches once. `elapsed_us` is how long the cell ran, from
  // the request until it stood still again: it does nothing before and after, whatever the candidate is like.
  std::optional<judging::ProcessFailure> go(sandbox::cpu::runtime::Order order, uint64_t seed, double& elapsed_us);
  // The time of a request that does nothing: what `go` costs beyond the kernels.
  std::optional<judging::ProcessFailure> ping(double& elapsed_us);

 private:
  std::optional<judging::ProcessFailure> ask(const core::Json& request, const std::vector<int>& fds,
                                             double* elapsed_us);

  judging::CandidateChannel channel_;
};

}  // namespace verifier::devices::cpu
