#include "verifier/cuda/checking.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "verifier/first_failure.h"
#include "verifier/shapes.h"

namespace verifier::cuda {
namespace {
constexpr int64_t kUnseenElements = 4 << 20, kUnseenFlops = int64_t{2} << 30;
constexpr int kRepeats = 3;  // of one draw, to see whether the bits are the same
}  // namespace

std::optional<Verdict> Checking::run(Side& side, Effort effort) {
  const bool thorough = effort != Effort::screen;
  const benchsuite::Problem& problem = at_hand_.problem();
  if (const auto failure = side.cell.await_loaded()) return verdict_of(*failure, {});
  FirstFailure first;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (!workload.runs_on("cuda")) continue;
    const bool test = workload.role == benchsuite::Role::test;
    if (!test && !thorough) continue;  // a screening's timed launches are audited
    auto failed = shape(side, workload.name, workload.axes, test && thorough);
    if (failed && first.add(std::move(*failed))) break;
  }
  if (first.verdict() || !thorough) return first.verdict();
  if (auto verdict = unseen(side, settings_.unseen_shapes, kUnseenElements, kUnseenFlops)) return verdict;
  if (effort != Effort::confirm) return std::nullopt;
  // Who wins must be right at other shapes of such a size, too, and not at those alone that are timed.
  const BenchSize bench = bench_size(problem, "cuda");
  return unseen(side, 1, std::max(bench.elements, kUnseenElements), std::max(bench.flops, kUnseenFlops));
}

std::optional<Verdict> Checking::unseen(Side& side, int count, int64_t most_elements, int64_t most_flops) {
  for (const core::Bindings& axes :
       draw_unseen_shapes(at_hand_.problem(), "cuda", count, most_elements, most_flops, keys_)) {
    if (auto verdict = shape(side, "unseen", axes, false)) return verdict;
  }
  return std::nullopt;
}

std::optional<Verdict> Checking::shape(Side& side, const std::string& name, const core::Bindings& axes, bool thorough) {
  const benchsuite::Problem& problem = at_hand_.problem();
  const Where where{name, sandbox::describe(axes), "ordinary", ""};
  try {
    InputSlots inputs;
    inputs.push_back(make_inputs(at_hand_.context(), problem, axes, keys_));
    const OutputSlots outputs = make_output_slots(at_hand_, axes, 1, keys_);
    Rig rig(at_hand_, axes, inputs, outputs, side, keys_);
    if (const auto failure = rig.prepare()) return verdict_of(*failure, where);
    if (auto verdict = repeats(rig, inputs, axes, where, thorough ? kRepeats : 1)) return verdict;
    if (!thorough) return std::nullopt;
    for (int i = 1; i < settings_.ordinary_draws; ++i) {
      if (auto verdict = draw(rig, inputs, axes, where, Distribution::ordinary)) return verdict;
    }
    for (const Distribution distribution : adversarial_for(problem)) {
      for (int i = draws_for(problem, axes, distribution); i > 0; --i) {
        if (auto verdict = draw(rig, inputs, axes, where, distribution)) return verdict;
      }
    }
    return std::nullopt;
  } catch (const core::InputError& error) {  // the plan cannot be bound to this shape
    return InvalidPlan{error.what()};
  }
}

// The same inputs several times. Other bits are no error, but they are recorded.
std::optional<Verdict> Checking::repeats(Rig& rig, const InputSlots& inputs, const core::Bindings& axes,
                                         const Where& where, int times) {
  std::vector<std::vector<std::byte>> first;
  at_hand_.fill(inputs[0], axes, Distribution::ordinary, keys_.next());
  for (int i = 0; i < times; ++i) {
    auto launched = rig.launch(1, false, keys_.next());
    if (const auto* failure = std::get_if<CellFailure>(&launched)) return verdict_of(*failure, where);
    const Expected expected = at_hand_.expected(inputs[0], axes, Distribution::ordinary);
    if (auto verdict = rig.audit(0, expected, where, findings_.worst_ratio)) return verdict;
    ++findings_.launches;
    if (times == 1) return std::nullopt;
    for (size_t output = 0; output < at_hand_.problem().outputs.size(); ++output) {
      std::vector<std::byte> bytes = rig.fetch(0, output);
      if (i == 0) {
        first.push_back(std::move(bytes));
      } else if (bytes != first[output]) {
        findings_.deterministic = false;
      }
    }
  }
  return std::nullopt;
}

std::optional<Verdict> Checking::draw(Rig& rig, const InputSlots& inputs, const core::Bindings& axes,
                                      const Where& where, Distribution distribution) {
  Where here = where;
  here.distribution = std::string(name_of(distribution));
  at_hand_.fill(inputs[0], axes, distribution, draw_keys_.next(distribution));
  auto launched = rig.launch(1, false, keys_.next());
  if (const auto* failure = std::get_if<CellFailure>(&launched)) return verdict_of(*failure, here);
  // Expected outputs come into being only after the launch.
  if (auto verdict = rig.audit(0, at_hand_.expected(inputs[0], axes, distribution), here, findings_.worst_ratio)) {
    return verdict;
  }
  ++findings_.launches;
  return std::nullopt;
}

}  // namespace verifier::cuda
