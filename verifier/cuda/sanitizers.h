// compute-sanitizer's four tools, watching a candidate that is about to become the best: what a right result may hide.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/fault.h"
#include "sandbox/worker.h"
#include "verifier/builds.h"
#include "verifier/verdict.h"

namespace verifier::cuda {

inline constexpr std::string_view kSanitizerTools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

class Sanitizers {
 public:
  // Below $CUDA_HOME or on $PATH, as the arguments give them; nullopt when it is not here.
  static std::optional<std::filesystem::path> find(const std::string& cuda_home, const std::string& path);

  // `program`: compute-sanitizer. `worker`: kernelwright-cuda for the device, without a role. Begins to start one
  // process for each tool, to be ready when it is needed. From a thread that outlives it. Throws core::SystemError.
  Sanitizers(std::filesystem::path program, sandbox::WorkerCommand worker);
  ~Sanitizers();
  Sanitizers(const Sanitizers&) = delete;
  Sanitizers& operator=(const Sanitizers&) = delete;

  // Launches the candidate under each tool, side by side, once on every listed test shape of at most 16 MiB. The first
  // fault found; nullopt: none. Throws core::SystemError when a tool cannot be used.
  std::optional<Verdict> examine(const Builds& candidate, const benchsuite::Problem& problem);

 private:
  struct Watch {
    std::string tool;
    std::filesystem::path report;
    std::optional<sandbox::Worker> worker;
  };
  void start();

  std::filesystem::path program_;
  sandbox::WorkerCommand worker_;
  std::filesystem::path folder_;  // of the reports
  std::vector<Watch> watches_;
};

// What a tool's report says: the first error; nullopt for none. Throws core::SystemError for what is no whole report.
std::optional<sandbox::Fault> fault_in_report(std::string_view tool, const std::string& report);

}  // namespace verifier::cuda
