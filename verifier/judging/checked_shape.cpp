// Checks a contender's fast build at one shape: reduces the shape to what is affordable, and draws its inputs.
#include "verifier/judging/checking.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "verifier/draws/axis_sizes.h"
#include "verifier/draws/reach.h"
#include "verifier/draws/shapes.h"

namespace verifier::judging {
namespace {
using draws::Distribution;
using verdicts::Verdict;
using verdicts::Where;

// So long a launch tells how long a kernel takes.
constexpr double kTelling_us = 2000;

// From so many terms on a kernel may keep a sum in parts, each rounded to a narrow type.
constexpr int64_t kLongSum = 4096;

}  // namespace

std::optional<Verdict> Checking::at_shape(Contender& contender, const NamedShape& named, const Check& check) {
  const auto turn = oracle_.device().turns().beside_others();
  const core::Bindings& axes = named.axes;
  const Where where{named.name, sandbox::describe(axes), "ordinary", ""};
  Slots inputs;
  inputs.push_back(oracle_.make_inputs(axes, named.workload, keys_));
  const Slots outputs = make_output_slots(oracle_, axes, 1, keys_);
  std::optional<LaunchHarness> harness;
  try {
    harness.emplace(oracle_, axes, inputs, outputs, contender, keys_);
  } catch (const core::InputError& error) {
    return verdicts::InvalidPlan{error.what()};
  }
  if (const auto failure = harness->prepare()) return verdict_of(*failure, where);
  Shape shape{*harness, inputs[0], axes, where};
  return check(shape);
}

std::optional<Verdict> Checking::fast_shape(Contender& contender, const NamedShape& named, Depth depth) {
  const benchsuite::Problem& problem = oracle_.problem();
  const CheckPolicy& policy = traits_.check;
  const core::Bindings& axes = named.axes;
  if (is_covered()) return std::nullopt;
  core::Bindings reached = axes;
  const auto come = [&](int64_t threads, double share) {
    reached = draws::within_reach(contender.plan(), problem, axes, threads, share);
  };
  if (depth == Depth::some || depth == Depth::longer) come(policy.long_threads, 0.75);
  // By halves, so that what is round stays round.
  if (depth == Depth::residue || depth == Depth::middle || depth == Depth::values) come(policy.middle_threads, 0.5);
  if (depth == Depth::wide) come(policy.long_threads, 0.5);
  if (depth == Depth::indices) come(policy.threads_of_indices, 0.5);
  if (depth == Depth::far) {
    come(std::max(policy.far_threads, draws::largest_tensor(problem, axes)), 0.75);
    const double share = policy.far_us / (pace_.us() * static_cast<double>(draws::cost_of(problem, reached)));
    const auto threads = static_cast<double>(draws::threads_of(contender.plan(), problem, reached));
    if (share < 1) come(static_cast<int64_t>(share * threads), 0.75);
  }
  const bool beyond = depth == Depth::longer || depth == Depth::far;
  if (beyond) {  // another process may have taken memory since far_elements was set
    const auto fitting = draws::within_memory(problem, reached, oracle_.device().free_bytes() / 10 * 9);
    if (!fitting) return std::nullopt;  // the scope shows it
    reached = *fitting;
  }
  if (beyond && !draws::lends_enough(contender.plan(), problem, reached, traits_.most_workspace_bytes)) {
    return std::nullopt;  // this, too
  }
  if (reached != axes && !oracle_.can_draw(reached)) return std::nullopt;  // and this
  if (covering_ && draws::cost_of(problem, reached) > covering_->most_cost) return std::nullopt;
  if (named.workload == nullptr &&
      draws::has_persistent_grid(contender.plan(), problem, reached, policy.persistent_threads)) {
    if (auto failed = come_within_time(contender, named.name, depth, reached)) return failed;
  }
  const bool dear =
      draws::threads_of(contender.plan(), problem, reached) > policy.threads_for_draws ||
      draws::cost_of(problem, reached) > policy.cost_for_draws ||
      (depth == Depth::far && draws::largest_tensor(problem, reached) > policy.elements_for_draws_at_ends);
  auto failed = at_shape(contender, {named.name, reached, named.workload},
                         [&](Shape& shape) { return draws_at(shape, depth, dear); });
  if (failed) return failed;
  findings_.scope.add(problem, reached);
  if (last_us_ >= kTelling_us) pace_.add(last_us_ / static_cast<double>(draws::cost_of(problem, reached)));
  return std::nullopt;
}

// Threads do not tell how long a persistent grid takes; an eighth of the largest axis does.
std::optional<Verdict> Checking::come_within_time(Contender& contender, const std::string& name, Depth depth,
                                                  core::Bindings& reached) {
  const benchsuite::Problem& problem = oracle_.problem();
  constexpr int kHalvings = 3;
  std::vector<core::Bindings> nearer = {reached};
  for (int i = 0; i < kHalvings; ++i) {
    nearer.push_back(nearer.back());
    draws::come_nearer(problem, nearer.back(), 0.5);
  }
  if (!oracle_.can_draw(nearer.back())) return std::nullopt;
  auto failed =
      at_shape(contender, {name, nearer.back()}, [&](Shape& shape) { return draw(shape, Distribution::ordinary); });
  if (failed) return failed;
  const double usual_us = settings_.launch_deadline_s * 1e6;
  const double affordable_us = depth == Depth::values ? usual_us / 20 : usual_us / 4;  // values take many draws
  size_t least = kHalvings;
  for (double us = 2 * last_us_; least > 0 && us <= affordable_us; us *= 2) --least;
  while (least < kHalvings && !oracle_.can_draw(nearer[least])) ++least;
  reached = nearer[least];
  return std::nullopt;
}

std::optional<Verdict> Checking::draws_at(Shape& shape, Depth depth, bool dear) {
  const benchsuite::Problem& problem = oracle_.problem();
  const std::vector<Distribution> adversarial = draws::adversarial_for(problem);
  const auto has = [&](Distribution one) { return std::ranges::count(adversarial, one) > 0; };
  const auto any_adversarial = [&] { return adversarial[keys_.below(adversarial.size())]; };
  // The end of a row decides there: whoever leaves it out is found.
  std::vector<Distribution> for_ends;
  for (const Distribution one : {Distribution::dominant, Distribution::extremes}) {
    if (has(one)) for_ends.push_back(one);
  }
  if (has(Distribution::one_value)) {
    for_ends.push_back(Distribution::one_value);  // all elements fall into one bin, segment or row
  }
  if (for_ends.empty()) for_ends.push_back(any_adversarial());
  const auto one_for_ends = [&] { return for_ends[keys_.below(for_ends.size())]; };
  if (depth == Depth::residue) {
    auto verdict = draw(shape, Distribution::ordinary);  // a patch may hide the one element that is wrong
    if (verdict) return verdict;
    // A short cut for simple content has tails of its own.
    if (has(Distribution::simple) && keys_.below(4) == 0) return draw(shape, Distribution::simple);
    return draw(shape, keys_.coin() ? one_for_ends() : draws::draw_disguise(problem, keys_));
  }
  if (depth == Depth::indices) return draw(shape, Distribution::ordinary);
  const bool asks_for_scales = has(Distribution::moderate) && draws::shows_at_few_scales(problem);
  if (depth == Depth::middle) {
    if (auto verdict = draw(shape, Distribution::ordinary)) return verdict;
    if (asks_for_scales) {
      if (auto verdict = draw(shape, Distribution::moderate)) return verdict;
    }
    return draw(shape, adversarial[middle_turn_++ % adversarial.size()]);
  }
  if (depth == Depth::wide) {
    if (auto verdict = draw(shape, Distribution::ordinary)) return verdict;
    return has(Distribution::one_value) && !dear ? draw(shape, Distribution::one_value) : std::nullopt;
  }
  if (depth == Depth::values) {
    // Each number in each way where they are few; a length that a kernel divides is a multiple by chance.
    constexpr size_t kDraws = 16;
    const size_t rounds = std::clamp<size_t>(kDraws / values_.size(), 1, draws::kKinds);
    std::vector<double> lengths = values_;
    std::erase_if(lengths, [&](double value) {
      return value < 3 || value != std::floor(value) || !draws::counts_to(problem, shape.axes, value);
    });
    for (size_t round = 0; round < draws::kKinds; ++round) {
      const std::vector<double>& drawn = round < rounds ? values_ : lengths;
      draw_keys_.begin_round(round <= rounds ? values_.size() : lengths.size());
      for (const double value : drawn) {
        if (auto verdict = draw(shape, Distribution::named, 1, value)) return verdict;
      }
    }
    return std::nullopt;
  }
  if (depth == Depth::square) {
    if (!has(Distribution::regular)) return std::nullopt;
    const int64_t ways = draws::ways_of_one_input(problem), most = traits_.check.square_draws;
    for (int64_t i = std::min(2 * ways, most); i > 0; --i) {
      if (auto verdict = draw(shape, Distribution::regular)) return verdict;
    }
    for (int64_t i = std::min(ways, most); i > 0; --i) {
      if (auto verdict = draw(shape, Distribution::simple)) return verdict;
    }
    return std::nullopt;
  }
  if (depth == Depth::longer || depth == Depth::far) {
    std::vector<Distribution> chosen = for_ends;
    chosen.push_back(draws::draw_disguise(problem, keys_));
    if (depth == Depth::longer) {
      chosen.push_back(adversarial[middle_turn_++ % adversarial.size()]);
      // A kernel may keep candidates in a buffer that an ascending row overflows.
      if (has(Distribution::ordered)) chosen.push_back(Distribution::ordered);
      // Only long rows have so many small terms that they count.
      if (const auto far_below = draws::far_for(problem)) chosen.push_back(*far_below);
      // Sums of whole numbers overflow only in long rows.
      if (has(Distribution::simple)) chosen.push_back(Distribution::simple);
    }
    if (dear) chosen = {chosen[dear_turn_++ % chosen.size()]};
    const bool is_long_sum = draws::terms_of_sums(problem, shape.axes) > kLongSum;
    if (has(Distribution::exact) && is_long_sum) chosen.push_back(Distribution::exact);
    for (const Distribution distribution : chosen) {
      if (auto verdict = draw(shape, distribution, traits_.check.far_patience)) return verdict;
    }
    return std::nullopt;
  }
  if (auto verdict = repeats(shape, depth == Depth::all)) return verdict;
  if (depth == Depth::glance) return std::nullopt;
  if (depth == Depth::scales) {
    if (!asks_for_scales) return std::nullopt;
    for (size_t kind = 0; kind < draws::kKinds; ++kind) {
      if (auto verdict = draw(shape, Distribution::moderate)) return verdict;
    }
    return std::nullopt;
  }
  if (depth == Depth::some) {
    if (auto verdict = draw(shape, Distribution::patchwork)) return verdict;
    return draw(shape, any_adversarial());
  }
  if (covering_) {
    for (const Distribution distribution : adversarial) {
      if (auto verdict = draw(shape, distribution)) return verdict;
    }
    return std::nullopt;
  }
  turn_ = 0;
  for (int i = 1; i < settings_.ordinary_draws; ++i) {
    if (auto verdict = draw(shape, Distribution::ordinary)) return verdict;
  }
  for (const Distribution distribution : adversarial) {
    for (int i = draws::draws_for(problem, shape.axes, distribution); i > 0; --i) {
      if (auto verdict = draw(shape, distribution)) return verdict;
    }
  }
  return std::nullopt;
}

// The same inputs several times, where the device has thread orders in each of them: a candidate that is right in one
// and wrong in another has a race. Other bits are not an error, but they are recorded.
std::optional<Verdict> Checking::repeats(Shape& shape, bool thorough) {
  if (covering_) return draw(shape, Distribution::ordinary);  // one order has the lines of all
  const std::vector<std::string>& orders = traits_.thread_orders;
  const size_t launches = !orders.empty() ? orders.size() : thorough ? static_cast<size_t>(traits_.check.repeats) : 1;
  TensorBytes first;
  std::optional<Expected> expected;
  oracle_.fill(shape.inputs, shape.axes, Distribution::ordinary, keys_.next());
  for (size_t i = 0; i < launches; ++i) {
    Where here = shape.where;
    LaunchRequest request;
    if (!orders.empty()) {
      request.order = i;
      here.order = orders[i];
    }
    auto launched = shape.harness.launch(request, keys_.next());
    if (const auto* failure = std::get_if<ProcessFailure>(&launched)) return verdict_of(*failure, here);
    if (!expected) expected = oracle_.expected(shape.inputs, shape.axes, Distribution::ordinary);
    if (auto verdict = shape.harness.audit(0, *expected, here, findings_.worst_ratio)) {
      const auto* wrong = std::get_if<verdicts::WrongResult>(&*verdict);
      if (orders.empty() || i == 0 || wrong == nullptr) return verdict;
      return verdicts::OrderDependent{here, wrong->output, wrong->index};
    }
    ++findings_.launches;
    if (launches == 1) return std::nullopt;
    TensorBytes outputs = shape.harness.fetch(0);
    if (i == 0) {
      first = std::move(outputs);
    } else if (outputs != first) {
      findings_.deterministic = false;
    }
  }
  return std::nullopt;
}

std::optional<Verdict> Checking::draw(Shape& shape, Distribution distribution, double patience, double number) {
  if (is_covered()) return std::nullopt;
  Where here = shape.where;
  here.distribution = std::string(draws::name_of(distribution));
  LaunchRequest request;
  request.patience = patience;
  if (!traits_.thread_orders.empty()) {
    request.order = turn_++ % traits_.thread_orders.size();
    here.order = traits_.thread_orders[request.order];
  }
  oracle_.fill(shape.inputs, shape.axes, distribution, draw_keys_.next(distribution), number);
  Expected expected;
  auto launched = shape.harness.launch_beside(
      request, keys_.next(), [&] { expected = oracle_.expected(shape.inputs, shape.axes, distribution); });
  if (const auto* failure = std::get_if<ProcessFailure>(&launched)) return verdict_of(*failure, here);
  last_us_ = std::get<Launched>(launched).us;
  if (auto verdict = shape.harness.audit(0, expected, here, findings_.worst_ratio)) return verdict;
  ++findings_.launches;
  return look_at_coverage(shape);
}

}  // namespace verifier::judging
