// The shapes at which a contender's fast build is checked.
#include "verifier/judging/checking.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "verifier/draws/reach.h"
#include "verifier/draws/shapes.h"
#include "verifier/draws/shapes_of_index_arithmetic.h"
#include "verifier/draws/shapes_of_numbers.h"

namespace verifier::judging {
namespace {
using verdicts::Effort;
using verdicts::Verdict;

// Times the operations of a residue's shape.
constexpr int64_t kForWholeTiles = 4;

}  // namespace

bool Checking::checks_benches(Effort effort) const {
  if (effort == Effort::screen) return false;
  return effort == Effort::confirm || traits_.check.bench_shapes_from == Effort::full;
}

std::optional<Verdict> Checking::fast_build(Contender& contender, Effort effort) {
  const benchsuite::Problem& problem = oracle_.problem();
  const CheckPolicy& policy = traits_.check;
  const bool thorough = effort != Effort::screen;
  if (auto invalid = bind_at_corners(contender)) return invalid;
  if (const auto failure = contender.process->await_loaded()) return verdict_of(*failure, {});
  FirstFailure first;
  for (const benchsuite::Workload& workload : problem.workloads) {
    const bool test = workload.role == benchsuite::Role::test;
    if (!workload.runs_on(traits_.backend) || (!test && !checks_benches(effort))) continue;
    auto failed =
        fast_shape(contender, {workload.name, workload.axes, &workload}, test && thorough ? Depth::all : Depth::glance);
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
  for (const DrawShapes& draw : {DrawShapes(pairs), DrawShapes(quotients), DrawShapes(beyond_whole_blocks)}) {
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
