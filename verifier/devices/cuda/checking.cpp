#include "verifier/devices/cuda/checking.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "verifier/draws/shapes.h"
#include "verifier/judging/first_failure.h"

namespace verifier::devices::cuda {
namespace {
constexpr int64_t kUnseenElements = 4 << 20, kUnseenFlops = int64_t{2} << 30;
constexpr int kRepeats = 3;  // of one draw, to see whether the bits are the same
}  // namespace

std::optional<verdicts::Verdict> Checking::run(Contender& side, verdicts::Effort effort) {
  const bool thorough = effort != verdicts::Effort::screen;
  const benchsuite::Problem& problem = oracle_.problem();
  if (const auto failure = side.process.await_loaded()) return judging::verdict_of(*failure, {});
  judging::FirstFailure first;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (!workload.runs_on("cuda")) continue;
    const bool test = workload.role == benchsuite::Role::test;
    if (!test && !thorough) continue;  // a screening's timed launches are audited
    auto failed = shape(side, workload.name, workload.axes, test && thorough);
    if (failed && first.add(std::move(*failed))) break;
  }
  if (first.verdict() || !thorough) return first.verdict();
  if (auto verdict = unseen(side, settings_.unseen_shapes, kUnseenElements, kUnseenFlops)) return verdict;
  if (effort != verdicts::Effort::confirm) return std::nullopt;
  // Who wins must be right at other shapes of such a size, too, and not at those alone that are timed.
  const draws::BenchSize bench = draws::bench_size(problem, "cuda");
  return unseen(side, 1, std::max(bench.elements, kUnseenElements), std::max(bench.flops, kUnseenFlops));
}

std::optional<verdicts::Verdict> Checking::unseen(Contender& side, int count, int64_t most_elements,
                                                  int64_t most_flops) {
  for (const core::Bindings& axes :
       draws::draw_unseen_shapes(oracle_.problem(), "cuda", count, most_elements, most_flops, keys_)) {
    if (auto verdict = shape(side, "unseen", axes, false)) return verdict;
  }
  return std::nullopt;
}

std::optional<verdicts::Verdict> Checking::shape(Contender& side, const std::string& name, const core::Bindings& axes,
                                                 bool thorough) {
  const benchsuite::Problem& problem = oracle_.problem();
  const verdicts::Where where{name, sandbox::describe(axes), "ordinary", ""};
  try {
    InputSlots inputs;
    inputs.push_back(make_inputs(oracle_.context(), problem, axes, keys_));
    const OutputSlots outputs = make_output_slots(oracle_, axes, 1, keys_);
    LaunchHarness harness(oracle_, axes, inputs, outputs, side, keys_);
    if (const auto failure = harness.prepare()) return judging::verdict_of(*failure, where);
    if (auto verdict = repeats(harness, inputs, axes, where, thorough ? kRepeats : 1)) return verdict;
    if (!thorough) return std::nullopt;
    for (int i = 1; i < settings_.ordinary_draws; ++i) {
      if (auto verdict = draw(harness, inputs, axes, where, draws::Distribution::ordinary)) return verdict;
    }
    for (const draws::Distribution distribution : draws::adversarial_for(problem)) {
      for (int i = draws::draws_for(problem, axes, distribution); i > 0; --i) {
        if (auto verdict = draw(harness, inputs, axes, where, distribution)) return verdict;
      }
    }
    return std::nullopt;
  } catch (const core::InputError& error) {  // the plan cannot be bound to this shape
    return verdicts::InvalidPlan{error.what()};
  }
}

// The same inputs several times. Other bits are no error, but they are recorded.
std::optional<verdicts::Verdict> Checking::repeats(LaunchHarness& harness, const InputSlots& inputs,
                                                   const core::Bindings& axes, const verdicts::Where& where,
                                                   int times) {
  std::vector<std::vector<std::byte>> first;
  oracle_.fill(inputs[0], axes, draws::Distribution::ordinary, keys_.next());
  for (int i = 0; i < times; ++i) {
    auto launched = harness.launch(1, false, keys_.next());
    if (const auto* failure = std::get_if<judging::ProcessFailure>(&launched))
      return judging::verdict_of(*failure, where);
    const Expected expected = oracle_.expected(inputs[0], axes, draws::Distribution::ordinary);
    if (auto verdict = harness.audit(0, expected, where, findings_.worst_ratio)) return verdict;
    ++findings_.launches;
    if (times == 1) return std::nullopt;
    for (size_t output = 0; output < oracle_.problem().outputs.size(); ++output) {
      std::vector<std::byte> bytes = harness.fetch(0, output);
      if (i == 0) {
        first.push_back(std::move(bytes));
      } else if (bytes != first[output]) {
        findings_.deterministic = false;
      }
    }
  }
  return std::nullopt;
}

std::optional<verdicts::Verdict> Checking::draw(LaunchHarness& harness, const InputSlots& inputs,
                                                const core::Bindings& axes, const verdicts::Where& where,
                                                draws::Distribution distribution) {
  verdicts::Where here = where;
  here.distribution = std::string(name_of(distribution));
  oracle_.fill(inputs[0], axes, distribution, draw_keys_.next(distribution));
  auto launched = harness.launch(1, false, keys_.next());
  if (const auto* failure = std::get_if<judging::ProcessFailure>(&launched)) return judging::verdict_of(*failure, here);
  // Expected outputs come into being only after the launch.
  if (auto verdict = harness.audit(0, oracle_.expected(inputs[0], axes, distribution), here, findings_.worst_ratio)) {
    return verdict;
  }
  ++findings_.launches;
  return std::nullopt;
}

}  // namespace verifier::devices::cuda
