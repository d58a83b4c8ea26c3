#include "verifier/devices/cuda/sanitizers.h"

#include <future>
#include <regex>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace verifier::devices::cuda {
namespace {
constexpr int64_t kMostSanitizerBytes = int64_t{16} << 20;
constexpr size_t kMostMessage = 400;

sandbox::FaultKind kind_of(std::string_view tool, const std::string& message) {
  if (tool == "racecheck") return sandbox::FaultKind::race;
  if (tool == "initcheck") return sandbox::FaultKind::uninitialised;
  if (tool == "synccheck") return sandbox::FaultKind::warp_misuse;
  return message.find("isaligned") != std::string::npos ? sandbox::FaultKind::misaligned
                                                        : sandbox::FaultKind::out_of_bounds;
}

std::optional<std::array<int64_t, 3>> place(const std::string& text, const char* what) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(std::string(what) + R"( \((\d{1,9}),(\d{1,9}),(\d{1,9})\))")))
    return std::nullopt;
  return std::array<int64_t, 3>{std::stoll(found[1]), std::stoll(found[2]), std::stoll(found[3])};
}

// The listed test shapes that are small enough.
std::vector<const benchsuite::Workload*> shapes_of(const benchsuite::Problem& problem) {
  std::vector<const benchsuite::Workload*> shapes;
  for (const benchsuite::Workload& workload : problem.workloads) {
    const bool test = workload.role == benchsuite::Role::test && workload.runs_on("cuda");
    if (test && bytes_of(problem, workload) <= kMostSanitizerBytes) shapes.push_back(&workload);
  }
  return shapes;
}
}  // namespace

bool is_doubtful(const verdicts::Verdict& found, const sandbox::Solution& solution) {
  const auto* faulted = std::get_if<verdicts::Faulted>(&found);
  return faulted != nullptr && faulted->fault.message.starts_with("racecheck") &&
         (solution.source.find("mbarrier") != std::string::npos ||
          solution.source.find("cuda::barrier") != std::string::npos);
}

Sanitizers::Sanitizers(const std::filesystem::path& program, const sandbox::process::WorkerCommand& worker) {
  for (const std::string_view tool : kSanitizerTools) {
    const std::filesystem::path report = folder_.path() / (std::string(tool) + ".txt");
    const std::vector<std::string> command{
        program.string(), "--tool", std::string(tool),     "--log-file", report.string(),
        "--print-limit",  "1",      "--report-api-errors", "no"};
    tools_.push_back({std::string(tool), Watch(command, report, worker)});
    tools_.back().watch.start();
  }
}

std::optional<verdicts::Verdict> Sanitizers::examine(const judging::Builds& candidate,
                                                     const benchsuite::Problem& problem,
                                                     reference::ReferenceChannel* drawer) {
  const WatchedLaunches launches(candidate, problem, shapes_of(problem), drawer);
  std::vector<std::future<std::optional<sandbox::Fault>>> watching;
  for (Tool& tool : tools_) {
    watching.push_back(
        std::async(std::launch::async, [&] { return fault_in_report(tool.name, tool.watch.report(launches)); }));
  }
  std::optional<verdicts::Verdict> verdict, doubtful;
  std::string trouble;
  for (size_t i = 0; i < tools_.size(); ++i) {
    try {
      auto fault = watching[i].get();
      if (!fault) continue;
      const verdicts::Verdict found = verdicts::Faulted{
          {"the listed test shapes, watched by compute-sanitizer", "", "ordinary", ""}, std::move(*fault)};
      auto& kept = is_doubtful(found, candidate.solution()) ? doubtful : verdict;
      if (!kept) kept = found;
    } catch (const std::exception& error) {
      trouble = tools_[i].name + ": " + error.what();
    }
  }
  for (Tool& tool : tools_) tool.watch.start();  // to be ready for the next
  if (!verdict && !trouble.empty()) throw core::SystemError("compute-sanitizer cannot be used: " + trouble);
  return verdict ? verdict : doubtful;
}

std::optional<sandbox::Fault> fault_in_report(std::string_view tool, const std::string& report) {
  static const std::regex summary(R"(SUMMARY: (\d+) errors?|SUMMARY: \d+ hazards? displayed \((\d+) errors?)");
  std::smatch found;
  if (!std::regex_search(report, found, summary)) {
    throw core::SystemError(std::string(tool) + " gave no whole report: " + core::clean_text(report, kMostMessage));
  }
  if (std::stoll(found[1].matched ? found[1].str() : found[2].str()) == 0) return std::nullopt;
  // The first error: a line of its own, then places, each line behind "=========".
  static const std::regex prefix("^=+ ?");
  static const std::regex kernel(R"(at (?:void )?([A-Za-z_]\w*))");
  std::istringstream lines(report);
  std::string message, places;
  for (std::string line; std::getline(lines, line);) {
    line = std::regex_replace(line, prefix, "");
    if (line.empty() || line == "COMPUTE-SANITIZER") {
      if (!message.empty()) break;
      continue;
    }
    static const std::regex second_access("^ +(and (?:Read|Write) access .*)");  // of a race, where lines are known
    if (message.empty()) {
      message = line;
    } else if (std::regex_match(line, found, second_access)) {
      message += " " + found[1].str();
    } else {
      places += line + "\n";
    }
  }
  sandbox::Fault fault;
  fault.kind = kind_of(tool, message);
  fault.message = std::string(tool) + ": " + core::clean_text(message, kMostMessage);
  const std::string all = message + "\n" + places;
  if (std::regex_search(all, found, kernel)) fault.kernel = found[1];
  static const std::regex source_line(R"(solution\.cu:(\d{1,7}))");
  if (std::regex_search(all, found, source_line)) fault.line = std::stoll(found[1]);
  fault.thread = place(all, "thread");
  fault.block = place(all, "block");
  return fault;
}

}  // namespace verifier::devices::cuda
