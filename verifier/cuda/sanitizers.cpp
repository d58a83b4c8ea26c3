#include "verifier/cuda/sanitizers.h"

#include <stdlib.h>
#include <unistd.h>

#include <future>
#include <regex>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/sealed_memory.h"
#include "sandbox/wire.h"
#include "verifier/inputs.h"
#include "verifier/keys.h"

namespace verifier::cuda {
namespace {
namespace fs = std::filesystem;
using core::Json;
constexpr auto kDeadline = std::chrono::seconds(30), kReportDeadline = std::chrono::seconds(10);
constexpr int64_t kMostBytes = int64_t{16} << 20;
constexpr size_t kMostMessage = 400;

bool is_program(const fs::path& file) { return fs::is_regular_file(file) && ::access(file.c_str(), X_OK) == 0; }

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

// One request for all tools: the candidate on its test shapes, with inputs of no other use.
struct Request {
  Json json{{"op", "launch"}, {"shapes", Json::array()}};
  std::vector<core::UniqueFd> inputs;
};
Request request_for(const Builds& candidate, const benchsuite::Problem& problem) {
  Request request;
  Keys keys(0x5A17);
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role != benchsuite::Role::test || !workload.runs_on("cuda")) continue;
    int64_t bytes = 0;
    for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
      for (const benchsuite::Tensor& tensor : *tensors) bytes += tensor.bytes(workload.axes);
    }
    if (bytes > kMostBytes) continue;
    Json shape{{"inputs", Json::array()}, {"outputs", Json::array()}};
    shape["plan"] =
        sandbox::to_json(sandbox::bind_plan(candidate.solution(), candidate.binding(), workload.axes, &problem));
    for (const benchsuite::Tensor& tensor : problem.inputs) {
      std::string content(static_cast<size_t>(tensor.bytes(workload.axes)), '\0');
      fill_input(std::as_writable_bytes(std::span<char>(content)), tensor, workload.axes, Distribution::ordinary,
                 keys.next());
      request.inputs.push_back(sandbox::sealed_memory("input", content));
      shape["inputs"].push_back({{"name", tensor.name}});
    }
    for (const benchsuite::Tensor& tensor : problem.outputs) {
      shape["outputs"].push_back({{"name", tensor.name}, {"bytes", tensor.bytes(workload.axes)}});
    }
    request.json["shapes"].push_back(std::move(shape));
  }
  return request;
}
}  // namespace

std::optional<fs::path> Sanitizers::find(const std::string& cuda_home, const std::string& path) {
  std::vector<fs::path> folders;
  if (!cuda_home.empty()) folders.push_back(fs::path(cuda_home) / "bin");
  for (const std::string& folder : core::split(path, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders) {
    if (is_program(folder / "compute-sanitizer")) return fs::absolute(folder / "compute-sanitizer");
  }
  return std::nullopt;
}

Sanitizers::Sanitizers(fs::path program, sandbox::WorkerCommand worker)
    : program_(std::move(program)), worker_(std::move(worker)) {
  std::string folder = (fs::temp_directory_path() / "kernelwright-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw core::SystemError("cannot make a folder like " + folder, errno);
  folder_ = folder;
  worker_.args.insert(worker_.args.end(), {"--role", "watched"});
  for (const std::string_view tool : kSanitizerTools) {
    watches_.push_back({std::string(tool), folder_ / (std::string(tool) + ".txt"), std::nullopt});
  }
  start();
}

Sanitizers::~Sanitizers() {
  watches_.clear();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Sanitizers::start() {
  for (Watch& watch : watches_) {
    sandbox::WorkerCommand command = worker_;
    // Its own temporary files go where the report does.
    command.launcher = {"/usr/bin/env",
                        "HOME=" + folder_.string(),
                        "TMPDIR=" + folder_.string(),
                        program_.string(),
                        "--tool",
                        watch.tool,
                        "--log-file",
                        watch.report.string(),
                        "--print-limit",
                        "1",
                        "--report-api-errors",
                        "no"};
    watch.worker.reset();
    fs::remove(watch.report);
    watch.worker = sandbox::Worker::launch(command);
  }
}

std::optional<Verdict> Sanitizers::examine(const Builds& candidate, const benchsuite::Problem& problem) {
  const Request request = request_for(candidate, problem);
  std::vector<int> fds{candidate.fast().binary.get()};
  for (const core::UniqueFd& input : request.inputs) fds.push_back(input.get());
  std::vector<std::future<std::optional<sandbox::Fault>>> watching;
  for (Watch& watch : watches_) {
    watching.push_back(std::async(std::launch::async, [&]() -> std::optional<sandbox::Fault> {
      watch.worker->await_greeting();
      watch.worker->request(request.json, fds, kDeadline);
      if (!watch.worker->finish(kReportDeadline)) throw core::SystemError(watch.tool + " did not end");
      return fault_in_report(watch.tool, core::read_file(watch.report));
    }));
  }
  std::optional<Verdict> verdict;
  std::string trouble;
  for (auto& one : watching) {
    try {
      if (auto fault = one.get(); fault && !verdict) {
        verdict =
            Faulted{{"the listed test shapes, watched by compute-sanitizer", "", "ordinary", ""}, std::move(*fault)};
      }
    } catch (const std::exception& error) {
      trouble = error.what();
    }
  }
  start();  // the next ones, to be ready
  if (!verdict && !trouble.empty()) throw core::SystemError("compute-sanitizer cannot be used: " + trouble);
  return verdict;
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
    if (message.empty()) {
      message = line;
    } else {
      places += line + "\n";
    }
  }
  sandbox::Fault fault;
  fault.kind = kind_of(tool, message);
  fault.message = std::string(tool) + ": " + core::clean_text(message, kMostMessage);
  const std::string all = message + "\n" + places;
  if (std::regex_search(all, found, kernel)) fault.kernel = found[1];
  fault.thread = place(all, "thread");
  fault.block = place(all, "block");
  return fault;
}

}  // namespace verifier::cuda
