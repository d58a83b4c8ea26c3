#include "verifier/reference/reference_worker.h"

#include <algorithm>
#include <utility>

#include "benchsuite/data_files.h"
#include "core/error.h"
#include "sandbox/process/sealed_memory.h"
#include "verifier/reference/tensor_shapes.h"

namespace verifier::reference {
namespace {
using core::Json;
using sandbox::process::Worker;
using sandbox::process::WorkerLost;
constexpr auto kAnswers = std::chrono::seconds(120);  // imports PyTorch first, which takes seconds

const benchsuite::Workload& smallest_test(const benchsuite::Problem& problem) {
  const auto elements = [&](const benchsuite::Workload& workload) {
    int64_t sum = workload.role == benchsuite::Role::test ? 0 : INT64_MAX / 2;
    for (const benchsuite::Tensor& tensor : problem.inputs) sum += tensor.elements(workload.axes);
    return sum;
  };
  return *std::min_element(problem.workloads.begin(), problem.workloads.end(),
                           [&](const auto& a, const auto& b) { return elements(a) < elements(b); });
}

// A request to try something at a workload, and memory with the inputs that it takes from files.
struct Trial {
  Json request;
  std::vector<core::UniqueFd> memory;

  std::vector<int> fds() const {
    std::vector<int> all;
    for (const core::UniqueFd& one : memory) all.push_back(one.get());
    return all;
  }
};
Trial trial_at(const benchsuite::Problem& problem, const benchsuite::Workload& workload) {
  Trial trial{shapes_json(problem, workload.axes), {}};
  trial.request["buffers"] = Json::array();
  for (const auto& [input, file] : workload.inputs) {
    const auto data = benchsuite::data_of(problem, workload, input);
    trial.memory.push_back(
        sandbox::process::sealed_memory("data", {reinterpret_cast<const char*>(data.data()), data.size()}));
    trial.request["buffers"].push_back(
        {{"name", input}, {"slot", 0}, {"offset", 0}, {"mapped_bytes", data.size()}, {"writable", false}});
  }
  return trial;
}
}  // namespace

ReferenceWorker::ReferenceWorker(sandbox::process::WorkerCommand command)
    : command_(std::move(command)), worker_(Worker::start(command_)) {}

sandbox::process::Message ReferenceWorker::request(const Json& json, const std::vector<int>& fds) {
  try {
    return worker_.request(json, fds, kAnswers);
  } catch (const WorkerLost& lost) {
    throw core::SystemError(std::string("the worker of reference.py was lost: ") + lost.what());
  }
}

void ReferenceWorker::use_problem(const benchsuite::Problem& problem) {
  if (worker_.pid() <= 0) worker_ = Worker::start(command_);
  problem_ = problem;
  Trial trial = trial_at(problem, smallest_test(problem));
  trial.request["op"] = "problem";
  trial.request["source"] = problem.files.at(std::string(benchsuite::kPytorchFile));
  trial.request["tf32"] = problem.contract.tf32;
  const Json answer = request(trial.request, trial.fds()).json;
  if (!answer.contains("refused")) {
    draws_inputs_ = answer.at("draws_inputs").get<bool>();
    return;
  }
  problem_.reset();
  const std::string at =
      answer.value("tried", false) ? "at " + shape_name(problem, smallest_test(problem).axes) + ": " : "";
  throw core::InputError(problem.pytorch_file().string(), at + answer.at("refused").get<std::string>());
}

bool ReferenceWorker::revive() {
  try {
    worker_.request({{"op", "about"}}, {}, kAnswers);
    return false;
  } catch (const WorkerLost&) {
    worker_ = Worker::start(command_);
    if (problem_) use_problem(benchsuite::Problem(*problem_));
    return true;
  }
}

core::UniqueFd ReferenceWorker::open_truth() { return open("truth"); }
core::UniqueFd ReferenceWorker::open_eager() { return open("eager"); }

core::UniqueFd ReferenceWorker::open(const char* what) { return opened_by(request({{"op", "open"}, {"what", what}})); }

std::variant<core::UniqueFd, ReferenceWorker::WrongEquivalent, ReferenceWorker::LackingPytorch>
ReferenceWorker::open_equivalent(const benchsuite::Problem& problem) {
  const benchsuite::Workload& tried = smallest_test(problem);
  Trial trial = trial_at(problem, tried);
  trial.request["op"] = "open";
  trial.request["what"] = "equivalent";
  trial.request["text"] = problem.equivalents.pytorch;
  if (problem.pytorch()) trial.request["source"] = problem.files.at(std::string(benchsuite::kPytorchFile));
  sandbox::process::Message answer = request(trial.request, trial.fds());
  if (answer.json.contains("refused")) return WrongEquivalent{tried.name, answer.json.at("refused").get<std::string>()};
  if (answer.json.contains("lacking")) return LackingPytorch{answer.json.at("lacking").get<std::string>()};
  return opened_by(std::move(answer));
}

core::UniqueFd ReferenceWorker::opened_by(sandbox::process::Message opened) {
  if (opened.fds.size() != 1) throw core::SystemError("the worker of reference.py opened no channel");
  return std::move(opened.fds[0]);
}

}  // namespace verifier::reference
