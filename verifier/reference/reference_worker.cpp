#include "verifier/reference/reference_worker.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "verifier/reference/tensor_shapes.h"

namespace verifier::reference {
namespace {
using core::Json;
using sandbox::process::Worker;
using sandbox::process::WorkerLost;
constexpr auto kAnswers = std::chrono::seconds(120);  // imports PyTorch first, which takes seconds

const core::Bindings& smallest_test(const benchsuite::Problem& problem) {
  const auto elements = [&](const benchsuite::Workload& workload) {
    int64_t sum = workload.role == benchsuite::Role::test ? 0 : INT64_MAX / 2;
    for (const benchsuite::Tensor& tensor : problem.inputs) sum += tensor.elements(workload.axes);
    return sum;
  };
  return std::min_element(problem.workloads.begin(), problem.workloads.end(),
                          [&](const auto& a, const auto& b) { return elements(a) < elements(b); })
      ->axes;
}
}  // namespace

ReferenceWorker::ReferenceWorker(sandbox::process::WorkerCommand command)
    : command_(std::move(command)), worker_(Worker::start(command_)) {}

sandbox::process::Message ReferenceWorker::request(const Json& json) {
  try {
    return worker_.request(json, {}, kAnswers);
  } catch (const WorkerLost& lost) {
    throw core::SystemError(std::string("the worker of reference.py was lost: ") + lost.what());
  }
}

void ReferenceWorker::use_problem(const benchsuite::Problem& problem) {
  if (worker_.pid() <= 0) worker_ = Worker::start(command_);
  problem_ = problem;
  Json shape = shapes_json(problem, smallest_test(problem));
  const Json answer = request({{"op", "problem"},
                               {"source", problem.files.at(std::string(benchsuite::kPytorchFile))},
                               {"tf32", problem.contract.tf32},
                               {"axes", std::move(shape["axes"])},
                               {"tensors", std::move(shape["tensors"])}})
                          .json;
  if (!answer.contains("refused")) return;
  problem_.reset();
  throw core::InputError(problem.pytorch_file().string(), answer.at("refused").get<std::string>(),
                         answer.value("remedy", ""));
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

core::UniqueFd ReferenceWorker::open(const char* what) {
  sandbox::process::Message opened = request({{"op", "open"}, {"what", what}});
  if (opened.fds.size() != 1) throw core::SystemError("the worker of reference.py opened no channel");
  return std::move(opened.fds[0]);
}

}  // namespace verifier::reference
