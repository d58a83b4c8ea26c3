// Nsight Compute, reading the hardware counters of a candidate's launches. Found on the host and never required.
#pragma once

#include <filesystem>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/process/worker.h"
#include "verifier/devices/cuda/watch.h"
#include "verifier/judging/builds.h"
#include "verifier/verdicts/counters.h"

namespace verifier::devices::cuda {

class Profiler {
 public:
  // `program`: ncu. `worker`: kernelwright-cuda for the device, without a role. Begins to start a process, to be ready
  // when it is needed; it leaves the clocks alone. From a thread that outlives it. Throws core::SystemError.
  Profiler(const std::filesystem::path& program, const sandbox::process::WorkerCommand& worker);

  // Counters of each launch at the problem's largest bench workload of at most 2 GiB; empty without one. Throws
  // core::SystemError when the counters cannot be read: not every host lets its users.
  std::vector<verdicts::Counters> profile(const judging::Builds& candidate, const benchsuite::Problem& problem,
                                          reference::ReferenceChannel* drawer);

 private:
  ReportFolder folder_;  // outlives the watch
  Watch watch_;
};

}  // namespace verifier::devices::cuda
