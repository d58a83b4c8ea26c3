// compute-sanitizer's four tools, watching a candidate that is about to become the best: what a right result may hide.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/fault.h"
#include "sandbox/process/worker.h"
#include "verifier/devices/cuda/watch.h"
#include "verifier/judging/builds.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::devices::cuda {

// racecheck orders by an mbarrier only what the arriving threads did themselves. Where one lane arrives for its warp,
// after __syncwarp or a named barrier, it reports races that are none: seen with compute-sanitizer of CUDA 13.0 on
// kernels of ten lines. Whether a finding may be such a one; the cpu device's look decides.
bool is_doubtful(const verdicts::Verdict& found, const sandbox::Solution& solution);

inline constexpr std::string_view kSanitizerTools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

class Sanitizers {
 public:
  // `program`: compute-sanitizer. `worker`: kernelwright-cuda for the device, without a role. Begins to start one
  // process for each tool, to be ready when it is needed. From a thread that outlives it. Throws core::SystemError.
  Sanitizers(const std::filesystem::path& program, const sandbox::process::WorkerCommand& worker);

  // Launches the candidate under each tool, side by side, once on every listed test shape of at most 16 MiB. The first
  // fault found; nullopt: none. Throws core::SystemError when a tool cannot be used.
  std::optional<verdicts::Verdict> examine(const judging::Builds& candidate, const benchsuite::Problem& problem,
                                           reference::ReferenceChannel* drawer);

 private:
  ReportFolder folder_;  // outlives the watches
  struct Tool {
    std::string name;
    Watch watch;
  };
  std::vector<Tool> tools_;
};

// The first error in a tool's report; nullopt for none. Throws core::SystemError for what is no whole report.
std::optional<sandbox::Fault> fault_in_report(std::string_view tool, const std::string& report);

}  // namespace verifier::devices::cuda
