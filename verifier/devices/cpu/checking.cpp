#include "verifier/devices/cpu/checking.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "verifier/draws/shapes.h"
#include "verifier/judging/first_failure.h"

namespace verifier::devices::cpu {
namespace {
using sandbox::cpu::runtime::Order;
constexpr int64_t kCheckedCost = 2'000'000;         // bytes read and operations
constexpr int64_t kCheckedBenchCost = 200'000'000;  // of a bench workload, when a win is confirmed
constexpr int64_t kUnseenElements = 32768, kUnseenFlops = 8'000'000;
constexpr int64_t kBeyondBench = 4;  // times what a bench workload has
constexpr std::array<std::string_view, 3> kOrderNames{"forward", "reverse", "seeded"};

std::string order_name(Order order) { return std::string(kOrderNames.at(static_cast<size_t>(order))); }

int64_t cost_of(const benchsuite::Problem& problem, const benchsuite::Workload& workload) {
  return problem.cost.bytes_read.eval(workload.axes) + problem.cost.flops.eval(workload.axes);
}

// The test workloads that the checking build can run in little time, the smallest one at least; with `benches`, also
// the shapes at which candidates are timed.
std::vector<const benchsuite::Workload*> checked_workloads(const benchsuite::Problem& problem, bool benches) {
  std::vector<std::pair<int64_t, const benchsuite::Workload*>> by_cost;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role != benchsuite::Role::test || !workload.runs_on("cpu")) continue;
    by_cost.emplace_back(cost_of(problem, workload), &workload);
  }
  std::sort(by_cost.begin(), by_cost.end());
  std::vector<const benchsuite::Workload*> chosen;
  for (const auto& [cost, workload] : by_cost) {
    if (chosen.empty() || cost <= kCheckedCost) chosen.push_back(workload);
  }
  for (const benchsuite::Workload& workload : problem.workloads) {
    const bool bench = workload.role == benchsuite::Role::bench && workload.runs_on("cpu");
    if (benches && bench && cost_of(problem, workload) <= kCheckedBenchCost) chosen.push_back(&workload);
  }
  return chosen;
}

// An InvalidPlan verdict when the plan cannot be bound to a shape.
template <typename Action>
std::optional<verdicts::Verdict> with_plan(Action action) {
  try {
    return action();
  } catch (const core::InputError& error) {
    return verdicts::InvalidPlan{error.what()};
  }
}
}  // namespace

std::optional<verdicts::Verdict> Checking::check_build(Contender& side, bool benches) {
  if (const auto failure = side.process.await_loaded()) return judging::verdict_of(*failure, {});
  judging::FirstFailure first;
  for (const benchsuite::Workload* workload : checked_workloads(oracle_.problem(), benches)) {
    const verdicts::Where where{workload->name, sandbox::describe(workload->axes), "ordinary", ""};
    auto failed = with_plan([&]() -> std::optional<verdicts::Verdict> {
      const std::vector<LentBuffer> inputs = make_inputs(oracle_.problem(), workload->axes);
      oracle_.fill(inputs, workload->axes, draws::Distribution::ordinary, keys_.next());
      LaunchHarness harness(oracle_.problem(), workload->axes, inputs, side.process, side.solution, side.binding);
      if (const auto failure = harness.prepare()) return judging::verdict_of(*failure, where);
      double elapsed_us = 0;
      if (const auto failure = harness.launch(Order::forward, keys_.next(), elapsed_us))
        return judging::verdict_of(*failure, where);
      // Held to the reference, too: a candidate that behaves in this build must also do the work in it.
      return harness.audit(oracle_.expected(inputs, workload->axes, draws::Distribution::ordinary), where,
                           findings_.worst_ratio);
    });
    if (failed && first.add(std::move(*failed))) break;
  }
  return first.verdict();
}

std::optional<verdicts::Verdict> Checking::fast_build(Contender& side, bool thorough, bool benches) {
  const benchsuite::Problem& problem = oracle_.problem();
  if (const auto failure = side.process.await_loaded()) return judging::verdict_of(*failure, {});
  judging::FirstFailure first;
  for (const benchsuite::Workload& workload : problem.workloads) {
    const bool test = workload.role == benchsuite::Role::test;
    if ((!test && !benches) || !workload.runs_on("cpu")) continue;
    auto failed = shape(side, workload.name, workload.axes, test && thorough);
    if (failed && first.add(std::move(*failed))) break;
  }
  if (first.verdict() || !thorough) return first.verdict();
  if (auto verdict = unseen(side, settings_.unseen_shapes, kUnseenElements, kUnseenFlops)) return verdict;
  if (!benches) return std::nullopt;
  // Who wins must be right at other shapes of such a size, too, and not at those alone that are timed.
  const draws::BenchSize bench = draws::bench_size(problem, "cpu");
  return unseen(side, 1, kBeyondBench * bench.elements, std::max(kBeyondBench * bench.flops, kUnseenFlops));
}

std::optional<verdicts::Verdict> Checking::unseen(Contender& side, int count, int64_t most_elements,
                                                  int64_t most_flops) {
  for (const core::Bindings& axes :
       draws::draw_unseen_shapes(oracle_.problem(), "cpu", count, most_elements, most_flops, keys_)) {
    if (auto verdict = shape(side, "unseen", axes, false)) return verdict;
  }
  return std::nullopt;
}

std::optional<verdicts::Verdict> Checking::shape(Contender& side, const std::string& name, const core::Bindings& axes,
                                                 bool thorough) {
  const benchsuite::Problem& problem = oracle_.problem();
  const verdicts::Where where{name, sandbox::describe(axes), "ordinary", ""};
  return with_plan([&]() -> std::optional<verdicts::Verdict> {
    const std::vector<LentBuffer> inputs = make_inputs(problem, axes);
    LaunchHarness harness(problem, axes, inputs, side.process, side.solution, side.binding);
    if (const auto failure = harness.prepare()) return judging::verdict_of(*failure, where);
    oracle_.fill(inputs, axes, draws::Distribution::ordinary, keys_.next());
    if (auto verdict = orders(harness, oracle_.expected(inputs, axes, draws::Distribution::ordinary), where))
      return verdict;
    if (!thorough) return std::nullopt;
    int turn = 0;
    const auto next_order = [&] { return static_cast<Order>(turn++ % 3); };
    for (int i = 1; i < settings_.ordinary_draws; ++i) {
      if (auto verdict = draw(harness, inputs, axes, where, draws::Distribution::ordinary, next_order()))
        return verdict;
    }
    for (const draws::Distribution distribution : draws::adversarial_for(problem)) {
      for (int i = draws::draws_for(problem, axes, distribution); i > 0; --i) {
        if (auto verdict = draw(harness, inputs, axes, where, distribution, next_order())) return verdict;
      }
    }
    return std::nullopt;
  });
}

// The same inputs in all three thread orders. A candidate that is right in one and wrong in another has a race.
std::optional<verdicts::Verdict> Checking::orders(LaunchHarness& harness, const Expected& expected,
                                                  const verdicts::Where& where) {
  std::vector<std::vector<std::byte>> first;
  for (const Order order : {Order::forward, Order::reverse, Order::seeded}) {
    verdicts::Where here = where;
    here.order = order_name(order);
    double elapsed_us = 0;
    if (const auto failure = harness.launch(order, keys_.next(), elapsed_us))
      return judging::verdict_of(*failure, here);
    if (auto verdict = harness.audit(expected, here, findings_.worst_ratio)) {
      const auto* wrong = std::get_if<verdicts::WrongResult>(&*verdict);
      if (order == Order::forward || wrong == nullptr) return verdict;
      return verdicts::OrderDependent{here, wrong->output, wrong->index};
    }
    ++findings_.launches;
    for (size_t i = 0; i < oracle_.problem().outputs.size(); ++i) {
      const std::span<const std::byte> bytes = harness.output(i);
      if (order == Order::forward) {
        first.emplace_back(bytes.begin(), bytes.end());
      } else if (!std::equal(bytes.begin(), bytes.end(), first[i].begin(), first[i].end())) {
        findings_.deterministic = false;
      }
    }
  }
  return std::nullopt;
}

std::optional<verdicts::Verdict> Checking::draw(LaunchHarness& harness, const std::vector<LentBuffer>& inputs,
                                                const core::Bindings& axes, const verdicts::Where& where,
                                                draws::Distribution distribution, Order order) {
  verdicts::Where here = where;
  here.distribution = std::string(name_of(distribution));
  here.order = order_name(order);
  oracle_.fill(inputs, axes, distribution, draw_keys_.next(distribution));
  double elapsed_us = 0;
  if (const auto failure = harness.launch(order, keys_.next(), elapsed_us)) return judging::verdict_of(*failure, here);
  // Expected outputs come into being only after the launch.
  if (auto verdict = harness.audit(oracle_.expected(inputs, axes, distribution), here, findings_.worst_ratio))
    return verdict;
  ++findings_.launches;
  return std::nullopt;
}

}  // namespace verifier::devices::cpu
