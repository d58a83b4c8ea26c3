// The shapes at which a contender's checking build and its fast build are checked.
#include "verifier/judging/checking.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "verifier/draws/axis_sizes.h"
#include "verifier/draws/reach.h"
#include "verifier/draws/shapes.h"
#include "verifier/draws/shapes_of_bands.h"
#include "verifier/draws/shapes_of_index_arithmetic.h"
#include "verifier/draws/shapes_of_numbers.h"
#include "verifier/draws/shapes_of_products.h"
#include "verifier/draws/shapes_of_related_axes.h"

namespace verifier::judging {
namespace {
using draws::Distribution;
using verdicts::Effort;
using verdicts::Verdict;
using verdicts::Where;

// Times the operations of a residue's shape.
constexpr int64_t kForWholeTiles = 4;

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

bool Checking::checks_benches(Effort effort) const {
  if (effort == Effort::screen) return false;
  return effort == Effort::confirm || traits_.check.bench_shapes_from == Effort::full;
}

// A race or an access out of bounds may take equal, ordered or far content. Each shape sees one distribution.
Distribution Checking::next_of_checking_build() {
  const size_t draws = checking_draws_++;
  if (draws == 0) return Distribution::patchwork;
  if (draws == 1 && oracle_.problem().pytorch()) return Distribution::ordinary;  // tells the oracle the outputs' scale
  const std::vector<Distribution> all = draws::adversarial_for(oracle_.problem());
  return all[checking_draw_turn_++ % all.size()];
}

std::optional<Verdict> Checking::checked_at(Contender& contender, const NamedShape& named, Pace& pace) {
  return at_shape(contender, named, [&](Shape& shape) -> std::optional<Verdict> {
    const Distribution distribution = next_of_checking_build();
    shape.where.distribution = draws::name_of(distribution);
    oracle_.fill(shape.inputs, shape.axes, distribution, draw_keys_.next(distribution));
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
        if (!expected) expected = oracle_.expected(shape.inputs, shape.axes, distribution);
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
  verdicts::FirstFailure first;
  std::ranges::fill(checking_turns_, 0);
  checking_draws_ = 0;
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
  const auto add = [&](const DrawShapes& draw, int64_t most_cost) {
    for (const core::Bindings& axes : with_inputs(draw)) {
      if (draws::cost_of(problem, axes) > most_cost) continue;
      const core::Bindings reached = draws::within_reach(contender.plan(), problem, axes, most_threads);
      if (reached == axes || oracle_.can_draw(reached)) shapes.push_back({"unseen", reached});
    }
  };
  add(
      [&] {
        return draws::draw_unseen_shapes(problem, traits_.backend, 1, policy.unseen_elements, policy.unseen_flops,
                                         shape_keys_);
      },
      policy.checking_build_cost);
  if (effort == Effort::confirm) {
    add([&] { return draws::draw_residue_shapes(problem, policy.checking_build_residues, shape_keys_); },
        policy.checking_build_cost);
    add([&] { return draws::draw_ends_of_axes(problem, policy.checking_build_cost_at_ends, shape_keys_); },
        policy.checking_build_cost_at_ends);
    add(
        [&] {
          return draws::draw_shapes_of_conditions(problem, contender.numbers, policy.shapes_of_conditions,
                                                  policy.checking_build_cost / 8, policy.checking_build_cost / 2,
                                                  shape_keys_);
        },
        policy.checking_build_cost);
    add(
        [&] {
          return draws::draw_long_shapes(problem, traits_.backend, policy.checking_build_cost / 8,
                                         policy.checking_build_cost / 2, shape_keys_,
                                         policy.checking_build_times_listed);
        },
        policy.checking_build_cost);
  }
  return shapes;
}

std::optional<Verdict> Checking::fast_build(Contender& contender, Effort effort) {
  if (auto invalid = bind_at_corners(contender)) return invalid;
  if (const auto failure = contender.process->await_loaded()) return verdict_of(*failure, {});
  return at_all_shapes(contender, effort);
}

std::optional<Verdict> Checking::at_all_shapes(Contender& contender, Effort effort) {
  const benchsuite::Problem& problem = oracle_.problem();
  const CheckPolicy& policy = traits_.check;
  const bool thorough = effort != Effort::screen;
  verdicts::FirstFailure first;
  std::vector<const benchsuite::Workload*> listed;
  for (const benchsuite::Workload& workload : problem.workloads) {
    // The covering build meets a bench shape, too, with every distribution: whole tiles may have a path of their own.
    const bool checked = workload.role == benchsuite::Role::test || covering_ || checks_benches(effort);
    if (workload.runs_on(traits_.backend) && checked) listed.push_back(&workload);
  }
  if (covering_) {  // small ones first, and several times, since each sees one draw of each distribution
    constexpr int kTimes = 4;
    std::ranges::stable_sort(listed, {}, [&](const auto* workload) { return draws::cost_of(problem, workload->axes); });
    const std::vector<const benchsuite::Workload*> once = listed;
    for (int i = 1; i < kTimes; ++i) listed.insert(listed.end(), once.begin(), once.end());
  }
  for (const benchsuite::Workload* workload : listed) {
    const bool all = covering_ || (workload->role == benchsuite::Role::test && thorough);
    const Depth depth = all ? Depth::all : effort == Effort::confirm ? Depth::scales : Depth::glance;
    auto failed = fast_shape(contender, {workload->name, workload->axes, workload}, depth);
    if (failed && first.add(std::move(*failed))) break;
  }
  if (first.verdict() || !thorough) return first.verdict();
  const std::string& backend = traits_.backend;
  const auto unseen = [&](int count, int64_t most_elements, int64_t most_flops) -> DrawShapes {
    return [&, count, most_elements, most_flops] {
      return draws::draw_unseen_shapes(problem, backend, count, most_elements, most_flops, keys_);
    };
  };
  if (auto verdict = all_of(contender, "unseen", Depth::some,
                            unseen(settings_.unseen_shapes, policy.unseen_elements, policy.unseen_flops))) {
    return verdict;
  }
  if (effort != Effort::confirm) return std::nullopt;
  const draws::BenchSize bench = draws::bench_size(problem, backend);
  const int64_t elements = std::max(policy.beyond_bench * bench.elements, policy.unseen_elements);
  const int64_t flops = std::max(policy.beyond_bench * bench.flops, policy.unseen_flops);
  if (auto verdict = all_of(contender, "unseen", Depth::some, unseen(1, elements, flops))) return verdict;
  if (auto verdict = all_of(contender, "residue", Depth::residue,
                            [&] { return draws::draw_residue_shapes(problem, policy.residues, keys_); })) {
    return verdict;
  }
  const int crossed = problem.axes.size() == 1 ? policy.crossed_shapes_of_one_axis : policy.crossed_shapes;
  if (auto verdict = all_of(contender, "unseen", Depth::residue, [&] {
        return draws::draw_crossed_shapes(problem, backend, crossed,
                                          std::max(policy.residues.most_elements, policy.unseen_elements),
                                          policy.unseen_flops, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = all_of(contender, "unseen", Depth::residue, [&] {
        return draws::draw_shapes_of_two_whole_axes(problem, policy.residues.most_elements,
                                                    kForWholeTiles * policy.residues.most_flops, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = all_of(contender, "unseen", Depth::residue, [&] {
        return draws::draw_shapes_of_related_axes(problem, contender.numbers, policy.shapes_of_related_axes,
                                                  policy.elements_of_related_axes, policy.unseen_flops, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = index_arithmetic(contender)) return verdict;
  if (auto verdict = all_of(contender, "number of the source", Depth::residue, [&] {
        return draws::draw_shapes_of_numbers(problem, contender.numbers, policy.shapes_of_numbers,
                                             std::max(policy.residues.most_elements, policy.unseen_elements),
                                             policy.unseen_flops, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = all_of(contender, "numbers of the source", Depth::wide, [&] {
        return draws::draw_wide_shapes_of_numbers(problem, contender.numbers, policy.wide_shapes_of_numbers,
                                                  policy.wide_elements_of_numbers, policy.wide_flops_of_numbers, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = all_of(contender, "conditions of the source", Depth::wide, [&] {
        return draws::draw_shapes_of_conditions(problem, contender.numbers, policy.shapes_of_conditions,
                                                policy.elements_of_conditions, policy.flops_of_conditions, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = all_of(contender, "conditions of the source", Depth::all, [&] {
        return draws::draw_short_shapes_of_conditions(problem, contender.numbers, policy.short_shapes_of_conditions,
                                                      policy.elements_of_short_shapes, policy.unseen_flops, keys_);
      })) {
    return verdict;
  }
  for (int round = 0; round <= policy.more_rounds_of_products; ++round) {
    const auto products = [&] {
      return draws::draw_shapes_of_products(
          problem, contender.numbers,
          {policy.shapes_of_products, policy.elements_of_short_shapes, policy.unseen_flops, policy.elements_of_products,
           policy.flops_of_products},
          keys_);
    };
    const Depth depth = round == 0 ? Depth::all : Depth::residue;
    if (auto verdict = all_of(contender, "conditions of the source", depth, products)) return verdict;
  }
  if (auto verdict = values_of_the_source(contender)) return verdict;
  if (auto verdict = all_of(contender, "unseen", Depth::middle, [&] {
        return draws::draw_middle_shapes(
            problem, std::min(static_cast<int64_t>(draws::adversarial_for(problem).size()), policy.middle_shapes),
            std::min(elements, policy.middle_elements), policy.unseen_flops, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = all_of(contender, "square", Depth::square, [&] {
        return draws::draw_square_shape(problem, policy.square_elements, policy.square_flops, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = all_of(contender, "unseen", Depth::square, [&] {
        return draws::draw_shapes_of_even_segments(problem, policy.square_elements, policy.square_flops, keys_);
      })) {
    return verdict;
  }
  const int64_t far_flops = std::max(flops, policy.far_flops);
  if (auto verdict = all_of(contender, "unseen", Depth::longer, [&] {
        return draws::draw_long_shapes(problem, backend, policy.far_elements, far_flops, keys_);
      })) {
    return verdict;
  }
  if (auto verdict = all_of(contender, "unseen", Depth::wide, [&] {
        return draws::draw_tails_of_the_only_axis(problem, backend, policy.far_elements, far_flops, keys_);
      })) {
    return verdict;
  }
  const int64_t large_flops = std::max(policy.large_times_bench * bench.flops, far_flops / 4);
  const int64_t wide_elements = std::max(elements, policy.far_elements / 16);
  const int64_t wide_flops = std::max(flops, policy.far_flops / 16);
  if (auto verdict = all_of(contender, "unseen", Depth::longer, [&] {
        return draws::draw_long_and_wide_shapes(problem, backend, wide_elements, wide_flops, keys_);
      })) {
    return verdict;
  }
  return all_of(contender, "end of the domain", Depth::far,
                [&] { return draws::far_shapes(problem, policy.far_elements, far_flops, large_flops, keys_); });
}

std::optional<Verdict> Checking::covering_build(Contender& contender) {
  const auto most = std::chrono::duration<double, std::micro>(traits_.check.covering_us);
  const auto now = std::chrono::steady_clock::now();
  const auto until = now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(most);
  covering_.emplace(Covering{*contender.process, until, traits_.check.covering_cost});
  std::optional<Verdict> failed;
  if (const auto failure = contender.process->await_loaded()) failed = verdict_of(*failure, {});
  for (; !failed && !is_covered(); covering_->most_cost *= 4) failed = at_all_shapes(contender, Effort::confirm);
  if (!failed) findings_.scope.not_run = std::move(covering_->not_run);
  covering_.reset();
  return failed;
}

bool Checking::is_covered() const {
  if (!covering_) return false;
  return (covering_->not_run && covering_->not_run->empty()) || std::chrono::steady_clock::now() > covering_->until;
}

std::optional<Verdict> Checking::look_at_coverage(const Shape& shape) {
  if (!covering_) return std::nullopt;
  auto lines = covering_->process.lines_not_run();
  if (const auto* failure = std::get_if<ProcessFailure>(&lines)) return verdict_of(*failure, shape.where);
  covering_->not_run = std::move(std::get<std::vector<int64_t>>(lines));
  return std::nullopt;
}

// Where places, products and quotients of axes pass what narrow or inexact arithmetic holds.
std::optional<Verdict> Checking::index_arithmetic(Contender& contender) {
  const benchsuite::Problem& problem = oracle_.problem();
  const CheckPolicy& policy = traits_.check;
  const int64_t elements = policy.elements_of_indices, flops = policy.unseen_flops;
  const auto pairs = [&] { return draws::draw_shapes_of_pairs(problem, elements, flops, keys_); };
  const auto quotients = [&] {
    return draws::draw_shapes_of_quotients(problem, contender.numbers, elements, flops, keys_);
  };
  const auto beyond_whole_blocks = [&] {
    return draws::shapes_beyond_whole_blocks(contender.plan(), problem, elements, flops, keys_);
  };
  const auto grids = [&] { return draws::shapes_of_grids(contender.plan(), problem, 2 * elements, flops, keys_); };
  const auto bands = [&] {
    return draws::draw_shapes_of_bands(contender.plan(), problem, contender.numbers,
                                       {2 * elements, flops, policy.elements_of_bands, policy.flops_of_bands}, keys_);
  };
  for (const DrawShapes& draw : {DrawShapes(pairs), DrawShapes(quotients), DrawShapes(beyond_whole_blocks),
                                 DrawShapes(grids), DrawShapes(bands)}) {
    if (auto verdict = all_of(contender, "unseen", Depth::indices, draw)) return verdict;
  }
  if (auto verdict = all_of(contender, "unseen", Depth::wide, [&] {
        return draws::draw_shapes_of_rounded_sizes(problem, contender.numbers, policy.far_elements, policy.far_flops,
                                                   keys_);
      })) {
    return verdict;
  }
  return all_of(contender, "unseen", Depth::middle, [&] {
    return draws::draw_shapes_of_bounds(problem, policy.unseen_elements, policy.unseen_flops, keys_);
  });
}

// At the listed test shapes, and at longer ones.
std::optional<Verdict> Checking::values_of_the_source(Contender& contender) {
  const benchsuite::Problem& problem = oracle_.problem();
  values_ = contender.numbers.values;
  if (values_.empty()) return std::nullopt;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (!workload.runs_on(traits_.backend) || workload.role != benchsuite::Role::test) continue;
    if (auto verdict = fast_shape(contender, {workload.name, workload.axes, &workload}, Depth::values)) return verdict;
  }
  return all_of(contender, "unseen", Depth::values, [&] {
    const int64_t elements = 2 * traits_.check.unseen_elements, flops = traits_.check.unseen_flops;
    std::vector<core::Bindings> shapes = draws::draw_shapes_of_long_rows(problem, elements, flops, keys_);
    std::ranges::move(draws::draw_shapes_of_long_counts(problem, 16 * elements, flops, keys_),
                      std::back_inserter(shapes));
    std::ranges::move(draws::draw_middle_shapes(problem, 1, elements, flops, keys_), std::back_inserter(shapes));
    return shapes;
  });
}

// A plan that cannot be bound somewhere is found without a launch.
std::optional<Verdict> Checking::bind_at_corners(const Contender& contender) {
  if (oracle_.only_listed()) return std::nullopt;
  // A workspace as large as a tensor is still allowed.
  const int64_t most_elements = int64_t{1} << (contender.solution.workspaces.empty() ? 33 : 30);
  for (const core::Bindings& axes : draws::corner_shapes(oracle_.problem(), most_elements)) {
    try {
      sandbox::bind_plan(contender.solution, contender.binding, axes, &oracle_.problem());
    } catch (const core::InputError& error) {
      return verdicts::InvalidPlan{"at " + sandbox::describe(axes) +
                                   ", a corner of the problem's domain: " + error.what()};
    }
  }
  return std::nullopt;
}

// Drawn shapes of which inputs() refuses none. Others take the place of those that it refuses.
std::vector<core::Bindings> Checking::with_inputs(const DrawShapes& draw) {
  constexpr int kTries = 8;
  std::vector<core::Bindings> shapes, drawn = draw();
  const size_t wanted = drawn.size();
  for (int tries = 1;; ++tries) {
    for (core::Bindings& axes : drawn) {
      if (shapes.size() < wanted && oracle_.can_draw(axes)) shapes.push_back(std::move(axes));
    }
    if (shapes.size() == wanted || tries == kTries) return shapes;
    drawn = draw();
  }
}

std::optional<Verdict> Checking::all_of(Contender& contender, const std::string& name, Depth depth,
                                        const DrawShapes& draw) {
  for (const core::Bindings& axes : with_inputs(draw)) {
    if (auto verdict = fast_shape(contender, {name, axes}, depth)) return verdict;
  }
  return std::nullopt;
}

}  // namespace verifier::judging
