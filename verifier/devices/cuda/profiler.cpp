#include "verifier/devices/cuda/profiler.h"

#include <string>

#include "core/error.h"
#include "core/text.h"

namespace verifier::devices::cuda {
namespace {
constexpr int64_t kMostBytes = int64_t{2} << 30;

std::vector<std::string> command_of(const std::filesystem::path& program, const std::filesystem::path& report) {
  return {program.string(),  "--csv",
          "--page",          "raw",
          "--metrics",       core::join(verdicts::counter_metrics(), ","),
          "--clock-control", "none",
          "--log-file",      report.string()};
}

const benchsuite::Workload* largest_bench(const benchsuite::Problem& problem) {
  const benchsuite::Workload* largest = nullptr;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role != benchsuite::Role::bench || !workload.runs_on("cuda")) continue;
    const int64_t bytes = bytes_of(problem, workload);
    if (bytes <= kMostBytes && (largest == nullptr || bytes > bytes_of(problem, *largest))) largest = &workload;
  }
  return largest;
}
}  // namespace

Profiler::Profiler(const std::filesystem::path& program, const sandbox::process::WorkerCommand& worker)
    : watch_(command_of(program, folder_.path() / "counters.csv"), folder_.path() / "counters.csv", worker) {
  watch_.start();
}

std::vector<verdicts::Counters> Profiler::profile(const judging::Builds& candidate, const benchsuite::Problem& problem,
                                                  reference::ReferenceChannel* drawer) {
  const benchsuite::Workload* workload = largest_bench(problem);
  if (workload == nullptr) return {};
  std::vector<verdicts::Counters> counters;
  try {
    counters = verdicts::parse_counters(watch_.report(WatchedLaunches(candidate, problem, {workload}, drawer)));
  } catch (const std::exception& error) {
    const std::string& failure = watch_.failure();
    throw core::SystemError("Nsight Compute cannot be used: " +
                            (failure.empty() ? error.what() : "the launches failed beside it: " + failure));
  }
  for (verdicts::Counters& launch : counters) launch.workload = workload->name;
  watch_.start();  // to be ready for the next
  return counters;
}

}  // namespace verifier::devices::cuda
