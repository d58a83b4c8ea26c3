// A process of ours in which a tool of the CUDA Toolkit watches a candidate's launches.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/strict_json.h"
#include "core/unique_fd.h"
#include "sandbox/process/worker.h"
#include "verifier/judging/builds.h"
#include "verifier/reference/reference_channel.h"

namespace verifier::devices::cuda {

// Below $CUDA_HOME or on $PATH, as the arguments give them, or where the CUDA Toolkit is as a rule; nullopt when it is
// not here.
std::optional<std::filesystem::path> find_tool(const std::string& name, const std::string& cuda_home,
                                               const std::string& path);

// A candidate with inputs of no other use, at some of the problem's workloads. `drawer`: Judge::open_inputs().
class WatchedLaunches {
 public:
  WatchedLaunches(const judging::Builds& candidate, const benchsuite::Problem& problem,
                  const std::vector<const benchsuite::Workload*>& workloads, reference::ReferenceChannel* drawer);

  const core::Json& request() const { return request_; }
  std::vector<int> fds() const;  // the binary, then the inputs

 private:
  int binary_;
  core::Json request_;
  std::vector<core::UniqueFd> inputs_;
};
// Bytes of all inputs and outputs.
int64_t bytes_of(const benchsuite::Problem& problem, const benchsuite::Workload& workload);

// Started beforehand, since that takes seconds; watches one candidate's launches, and then has to be started anew.
class Watch {
 public:
  // `tool`: its program and what it is told; `report` is where it then writes. `worker`: kernelwright-cuda for the
  // device, without a role. From a thread that outlives it.
  Watch(std::vector<std::string> tool, std::filesystem::path report, sandbox::process::WorkerCommand worker);

  // Begins to start the process. Throws core::SystemError.
  void start();
  // Each launch once. What the tool then wrote. Throws core::SystemError, sandbox::process::WorkerLost.
  std::string report(const WatchedLaunches& launches);
  // Why the last report's launches did not all end; empty if they did.
  const std::string& failure() const { return failure_; }

 private:
  std::filesystem::path report_;
  sandbox::process::WorkerCommand command_;
  std::optional<sandbox::process::Worker> worker_;
  std::string failure_;
};

// A folder for the tools' reports and temporary files, removed with this.
class ReportFolder {
 public:
  ReportFolder();  // throws core::SystemError
  ~ReportFolder();
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace verifier::devices::cuda
