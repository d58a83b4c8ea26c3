// The shapes at which a contender's checking build runs on the cpu device, and in which orders of its threads.
#include "verifier/judging/checking.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "verifier/draws/axis_sizes.h"
#include "verifier/draws/reach.h"
#include "verifier/draws/shapes.h"
#include "verifier/draws/shapes_of_numbers.h"
#include "verifier/judging/first_failure.h"

namespace verifier::judging {
namespace {
using draws::Distribution;
using verdicts::Effort;
using verdicts::Verdict;
using verdicts::Where;

// Thread orders of the checking build, which always runs on the cpu device.
constexpr size_t kForward = 0, kReverse = 1, kSeeded = 2;
constexpr size_t kOrdersOfOneBlock[] = {kSeeded, kForward, kSeeded, kReverse};
// Blocks run together in the seeded order alone, and few shapes may have several.
constexpr size_t kOrdersOfSeveral[] = {kSeeded, kSeeded, kReverse, kSeeded, kSeeded, kForward};
// Launches of several blocks in that order at one shape, where one takes no longer than so.
constexpr int kTurnsOfSeveral = 3;
constexpr double kLittle_us = 50'000;
// The listed workloads for the checking build. It is slow, so only the smallest test workload runs at any cost.
std::vector<const benchsuite::Workload*> cheap_workloads(const benchsuite::Problem& problem, const DeviceTraits& traits,
                                                         bool benches) {
  std::vector<std::pair<int64_t, const benchsuite::Workload*>> by_cost;
  std::vector<const benchsuite::Workload*> chosen, chosen_benches;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (!workload.runs_on(traits.backend)) continue;
    const int64_t cost = draws::cost_of(problem, workload.axes);
    if (workload.role == benchsuite::Role::test) {
      by_cost.emplace_back(cost, &workload);
    } else if (benches && cost <= traits.check.checking_build_bench_cost) {
      chosen_benches.push_back(&workload);
    }
  }
  std::sort(by_cost.begin(), by_cost.end());
  for (const auto& [cost, workload] : by_cost) {
    if (chosen.empty() || cost <= traits.check.checking_build_cost) chosen.push_back(workload);
  }
  chosen.insert(chosen.end(), chosen_benches.begin(), chosen_benches.end());
  return chosen;
}

}  // namespace

std::optional<Verdict> Checking::checked_at(Contender& contender, const NamedShape& named, Pace& pace) {
  return at_shape(contender, named, [&](Shape& shape) -> std::optional<Verdict> {
    shape.where.distribution = draws::name_of(Distribution::patchwork);
    oracle_.fill(shape.inputs, shape.axes, Distribution::patchwork, keys_.next());
    LaunchRequest request;
    const bool several = draws::most_blocks(contender.plan(), oracle_.problem(), shape.axes) > 1;
    const bool is_bench = named.workload != nullptr && named.workload->role == benchsuite::Role::bench;
    const size_t turn = checking_turns_[several]++;
    request.order = is_bench  ? kSeeded
                    : several ? kOrdersOfSeveral[turn % std::size(kOrdersOfSeveral)]
                              : kOrdersOfOneBlock[turn % std::size(kOrdersOfOneBlock)];
    if (!traits_.thread_orders.empty()) shape.where.order = traits_.thread_orders[request.order];
    request.patience = traits_.check.far_patience;  // a tile of which a shape needs little takes its time here
    std::optional<Expected> expected;
    const bool by_chance = several && request.order == kSeeded;  // which block meets which is drawn for each launch
    for (int turns = 1, i = 0; i < turns; ++i) {
      // Held to the reference, too: a candidate that behaves in this build must also do the work in it.
      auto launched = shape.harness.launch_beside(request, keys_.next(), [&] {
        if (!expected) expected = oracle_.expected(shape.inputs, shape.axes, Distribution::patchwork);
      });
      if (const auto* failure = std::get_if<ProcessFailure>(&launched)) return verdict_of(*failure, shape.where);
      const auto threads = static_cast<double>(draws::threads_of(contender.plan(), oracle_.problem(), shape.axes));
      const double launch_us = std::get<Launched>(launched).us, us = launch_us / threads;
      pace = {std::max(pace.most_us, us), std::min(pace.least_us, us)};
      if (auto failed = shape.harness.audit(0, *expected, shape.where, findings_.worst_ratio)) return failed;
      if (by_chance && launch_us <= kLittle_us) turns = kTurnsOfSeveral;
    }
    return std::nullopt;
  });
}

std::optional<Verdict> Checking::checking_build_for_gpu(Contender& contender, const Share& share) {
  share_ = share;
  if (auto failed = checking_build(contender, Effort::confirm)) return failed;
  const CheckPolicy& policy = traits_.check;
  Pace pace;
  const auto rows = [&] {
    return draws::draw_rows_of_tiles(oracle_.problem(), traits_.backend, policy.rows_of_tiles_elements,
                                     policy.rows_of_tiles_flops, shape_keys_);
  };
  for (const core::Bindings& axes : with_inputs(rows)) {
    if (!share_.has(place_++)) continue;
    if (auto failed = checked_at(contender, {"unseen", axes}, pace)) return failed;
  }
  return std::nullopt;
}

std::optional<Verdict> Checking::checking_build(Contender& contender, Effort effort) {
  if (const auto failure = contender.process->await_loaded()) return verdict_of(*failure, {});
  FirstFailure first;
  std::ranges::fill(checking_turns_, 0);
  place_ = 0;
  shape_keys_ = statistics::Keys(statistics::one_way(keys_.next()));
  Pace pace;
  const auto fails_at = [&](const NamedShape& named) {
    auto failed = checked_at(contender, named, pace);
    return failed && first.add(std::move(*failed));
  };
  for (const benchsuite::Workload* workload : cheap_workloads(oracle_.problem(), traits_, effort == Effort::confirm)) {
    if (fails_at({workload->name, workload->axes, workload})) return first.verdict();
  }
  if (effort == Effort::screen) return first.verdict();
  const CheckPolicy& policy = traits_.check;
  const double affordable = policy.checking_build_us / pace.most_us;
  const int64_t threads = affordable < static_cast<double>(policy.checking_build_threads)
                              ? std::max(static_cast<int64_t>(affordable), policy.checking_build_least_threads)
                              : policy.checking_build_threads;
  for (const NamedShape& named : drawn_for_checking_build(contender, effort, threads)) {
    if (!share_.has(place_++)) continue;
    if (fails_at(named)) return first.verdict();
  }
  if (effort != Effort::confirm) return first.verdict();
  const auto rounds = [&] {
    const double most = std::min(policy.rounds_us / pace.least_us, static_cast<double>(policy.rounds_threads));
    return draws::shapes_of_rounds(contender.plan(), oracle_.problem(), policy.rounds_elements, policy.rounds_flops,
                                   static_cast<int64_t>(most), shape_keys_);
  };
  for (const core::Bindings& axes : with_inputs(rounds)) {
    if (!share_.has(place_++)) continue;
    if (!draws::lends_enough(contender.plan(), oracle_.problem(), axes, traits_.most_workspace_bytes)) continue;
    if (fails_at({"unseen", axes})) break;
  }
  return first.verdict();
}

// Some have longer axes than any listed shape: a rule may be broken only there.
std::vector<Checking::NamedShape> Checking::drawn_for_checking_build(const Contender& contender, Effort effort,
                                                                     int64_t most_threads) {
  const benchsuite::Problem& problem = oracle_.problem();
  const CheckPolicy& policy = traits_.check;
  std::vector<NamedShape> shapes;
  const auto add = [&](const DrawShapes& draw) {
    for (const core::Bindings& axes : with_inputs(draw)) {
      if (draws::cost_of(problem, axes) > policy.checking_build_cost) continue;
      const core::Bindings reached = draws::within_reach(contender.plan(), problem, axes, most_threads);
      if (reached == axes || oracle_.can_draw(reached)) shapes.push_back({"unseen", reached});
    }
  };
  add([&] {
    return draws::draw_unseen_shapes(problem, traits_.backend, 1, policy.unseen_elements, policy.unseen_flops,
                                     shape_keys_);
  });
  if (effort == Effort::confirm) {
    add([&] { return draws::draw_residue_shapes(problem, policy.checking_build_residues, shape_keys_); });
    add([&] {
      return draws::draw_shapes_of_conditions(problem, contender.numbers, policy.shapes_of_conditions,
                                              policy.checking_build_cost / 8, policy.checking_build_cost / 2,
                                              shape_keys_);
    });
    add([&] {
      return draws::draw_long_shapes(problem, traits_.backend, policy.checking_build_cost / 8,
                                     policy.checking_build_cost / 2, shape_keys_, policy.checking_build_times_listed);
    });
  }
  return shapes;
}

}  // namespace verifier::judging
