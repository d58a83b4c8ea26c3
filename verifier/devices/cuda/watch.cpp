#include "verifier/devices/cuda/watch.h"

#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/process/sealed_memory.h"
#include "sandbox/wire.h"
#include "verifier/judging/given_inputs.h"
#include "verifier/statistics/keys.h"

namespace verifier::devices::cuda {
namespace {
namespace fs = std::filesystem;
using core::Json;
constexpr auto kDeadline = std::chrono::seconds(30), kReportDeadline = std::chrono::seconds(10);

bool is_program(const fs::path& file) { return fs::is_regular_file(file) && ::access(file.c_str(), X_OK) == 0; }
}  // namespace

std::optional<fs::path> find_tool(const std::string& name, const std::string& cuda_home, const std::string& path) {
  std::vector<fs::path> folders;
  if (!cuda_home.empty()) folders.push_back(fs::path(cuda_home) / "bin");
  for (const std::string& folder : core::split(path, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders) {
    if (is_program(folder / name)) return fs::absolute(folder / name);
  }
  return std::nullopt;
}

WatchedLaunches::WatchedLaunches(const judging::Builds& candidate, const benchsuite::Problem& problem,
                                 const std::vector<const benchsuite::Workload*>& workloads,
                                 reference::ReferenceChannel* drawer)
    : binary_(candidate.fast().binary.get()), request_{{"op", "launch"}, {"shapes", Json::array()}} {
  statistics::Keys keys(0x5A17);
  for (const benchsuite::Workload* workload : workloads) {
    const core::Bindings& axes = workload->axes;
    Json shape{{"inputs", Json::array()}, {"outputs", Json::array()}};
    shape["plan"] = sandbox::to_json(sandbox::bind_plan(candidate.solution(), candidate.binding(), axes, &problem));
    const judging::TensorBytes drawn = judging::draw_inputs(problem, *workload, drawer, keys);
    for (size_t i = 0; i < drawn.size(); ++i) {
      inputs_.push_back(
          sandbox::process::sealed_memory("input", {reinterpret_cast<const char*>(drawn[i].data()), drawn[i].size()}));
      shape["inputs"].push_back({{"name", problem.inputs[i].name}});
    }
    for (const benchsuite::Tensor& tensor : problem.outputs) {
      shape["outputs"].push_back({{"name", tensor.name}, {"bytes", tensor.bytes(axes)}});
    }
    request_["shapes"].push_back(std::move(shape));
  }
}

std::vector<int> WatchedLaunches::fds() const {
  std::vector<int> fds{binary_};
  for (const core::UniqueFd& input : inputs_) fds.push_back(input.get());
  return fds;
}

int64_t bytes_of(const benchsuite::Problem& problem, const benchsuite::Workload& workload) {
  int64_t bytes = 0;
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *tensors) bytes += tensor.bytes(workload.axes);
  }
  return bytes;
}

Watch::Watch(std::vector<std::string> tool, fs::path report, sandbox::process::WorkerCommand worker)
    : report_(std::move(report)), command_(std::move(worker)) {
  command_.args.insert(command_.args.end(), {"--role", "watched"});
  // Its own temporary files go where the report does.
  const std::string folder = report_.parent_path().string();
  command_.launcher = {"/usr/bin/env", "HOME=" + folder, "TMPDIR=" + folder};
  command_.launcher.insert(command_.launcher.end(), tool.begin(), tool.end());
}

void Watch::start() {
  worker_.reset();
  fs::remove(report_);
  worker_ = sandbox::process::Worker::launch(command_);
}

std::string Watch::report(const WatchedLaunches& launches) {
  worker_->await_greeting();
  const Json answer = worker_->request(launches.request(), launches.fds(), kDeadline).json;
  failure_ = answer.contains("failed") ? answer["failed"].get<std::string>() : "";
  if (!worker_->finish(kReportDeadline)) throw core::SystemError("the tool did not end");
  return core::read_file(report_);
}

ReportFolder::ReportFolder() {
  std::string folder = (fs::temp_directory_path() / "kernelwright-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw core::SystemError("cannot make a folder like " + folder, errno);
  path_ = folder;
}

ReportFolder::~ReportFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace verifier::devices::cuda
