#include "verifier/judging/given_inputs.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include "benchsuite/data_files.h"
#include "core/error.h"
#include "sandbox/solution.h"
#include "verifier/draws/shapes.h"
#include "verifier/reference/tensor_shapes.h"

namespace verifier::judging {
namespace {
using reference::ReferenceChannel;
constexpr uint64_t kTryingKey = 1, kOtherKey = 2;
constexpr int kTriedShapes = 8;
constexpr double kMostDrawSeconds = 0.5;
constexpr int64_t kTriedElements = 1 << 15, kTriedFlops = 8'000'000;

std::string json_file(const benchsuite::Problem& problem) { return problem.place_of("problem.json").string(); }

int64_t given_bytes(const benchsuite::Problem& problem, const core::Bindings& axes) {
  int64_t bytes = 0;
  for (const benchsuite::Tensor& input : problem.inputs) bytes += is_given(input) ? input.bytes(axes) : 0;
  return bytes;
}

// For a problem whose reference.py has no inputs(): files must give every given input.
void require_files(const benchsuite::Problem& problem) {
  for (const benchsuite::Tensor& input : problem.inputs) {
    if (!is_given(input)) continue;
    for (const benchsuite::Workload& workload : problem.workloads) {
      if (workload.inputs.contains(input.name)) continue;
      throw core::InputError(
          json_file(problem) + "#/inputs/" + input.name + "/init",
          "is \"given\", and nothing gives it at workload " + workload.name,
          "write inputs(axes, generator) in reference.py, or name a file in \"inputs\" of this workload");
    }
  }
}

// A judgement draws some hundred times, and its deadline must be the candidate's alone.
void require_quick_draw(ReferenceChannel& drawer, const benchsuite::Problem& problem, const core::Bindings& axes) {
  using Clock = std::chrono::steady_clock;
  double took_s = 0;
  for (int tries = 0; tries < 2; ++tries) {  // the first may be slow by chance
    const Clock::time_point begin = Clock::now();
    draw_given(drawer, problem, axes, kTryingKey);
    took_s = std::chrono::duration<double>(Clock::now() - begin).count();
    if (took_s <= kMostDrawSeconds) return;
  }
  throw core::InputError(problem.pytorch_file().string(),
                         "at " + reference::shape_name(problem, axes) + ": inputs() takes " +
                             std::to_string(static_cast<int>(took_s * 1e3)) + " ms, and a draw may take " +
                             std::to_string(static_cast<int>(kMostDrawSeconds * 1e3)),
                         "draw only what init cannot say, without loops over elements, or list smaller shapes");
}
}  // namespace

ReferenceChannel::Given draw_given(ReferenceChannel& drawer, const benchsuite::Problem& problem,
                                   const core::Bindings& axes, uint64_t key) {
  auto drawn = drawer.draw(problem, axes, key);
  if (auto* given = std::get_if<ReferenceChannel::Given>(&drawn)) return std::move(*given);
  throw core::InputError(problem.pytorch_file().string(),
                         "at " + reference::shape_name(problem, axes) +
                             ", which it must not refuse: " + std::get<ReferenceChannel::OutsideDomain>(drawn).why,
                         "give inputs at every listed workload, for every key");
}

bool can_draw_given(ReferenceChannel& drawer, const benchsuite::Problem& problem, const core::Bindings& axes) {
  if (given_bytes(problem, axes) > kMostGivenBytes) return false;
  if (drawer.draw(problem, axes, kTryingKey).index() == 0) return true;
  if (drawer.draw(problem, axes, kOtherKey).index() != 0) return false;
  throw core::InputError(problem.pytorch_file().string(),
                         "inputs() refuses " + sandbox::describe(axes) + " for one key and not for another",
                         "raise ValueError by the axes alone, and draw again where a draw does not fit");
}

TensorBytes draw_inputs(const benchsuite::Problem& problem, const benchsuite::Workload& workload,
                        ReferenceChannel* drawer, statistics::Keys& keys) {
  TensorBytes inputs;
  std::vector<size_t> wanted;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const benchsuite::Tensor& tensor = problem.inputs[i];
    std::vector<std::byte>& bytes = inputs.emplace_back(static_cast<size_t>(tensor.bytes(workload.axes)));
    if (workload.inputs.contains(tensor.name)) {
      std::ranges::copy(benchsuite::data_of(problem, workload, tensor.name), bytes.begin());
    } else if (is_given(tensor)) {
      wanted.push_back(i);
    } else {
      draws::fill_input(bytes, tensor, workload.axes, draws::Distribution::ordinary, keys.next());
    }
  }
  if (wanted.empty()) return inputs;
  ReferenceChannel::Given drawn = draw_given(*drawer, problem, workload.axes, keys.next());
  for (const size_t i : wanted) inputs[i] = std::move(drawn[i]);
  return inputs;
}

std::vector<core::Bindings> shapes_to_try(const benchsuite::Problem& problem, const std::string& backend) {
  statistics::Keys keys(kTryingKey);
  return draws::draw_unseen_shapes(problem, backend, kTriedShapes, kTriedElements, kTriedFlops, keys);
}

void require_given_inputs(reference::ReferenceWorker& worker, const benchsuite::Problem& problem,
                          const std::string& backend) {
  const bool any = std::ranges::any_of(problem.inputs, is_given);
  if (!worker.draws_inputs()) return require_files(problem);
  if (!any) {
    throw core::InputError(
        problem.pytorch_file().string(), "defines inputs(), and no input is drawn by it",
        R"(give each of its inputs the init {"kind": "given"} in problem.json, or leave inputs() out)");
  }
  ReferenceChannel drawer(worker.open_truth());
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.runs_on(backend)) require_quick_draw(drawer, problem, workload.axes);
  }
  const std::vector<core::Bindings> shapes = shapes_to_try(problem, backend);
  std::vector<core::Bindings> refused;
  for (const core::Bindings& axes : shapes) {
    if (!can_draw_given(drawer, problem, axes)) refused.push_back(axes);
  }
  if (2 * refused.size() <= shapes.size()) return;
  throw core::InputError(problem.pytorch_file().string(),
                         "inputs() refuses " + std::to_string(refused.size()) + " of " + std::to_string(shapes.size()) +
                             " shapes of the domain that were tried, first " + sandbox::describe(refused[0]) +
                             ": candidates would hardly be tried beyond the listed shapes",
                         "draw valid data there, or narrow the axes in problem.json");
}

}  // namespace verifier::judging
