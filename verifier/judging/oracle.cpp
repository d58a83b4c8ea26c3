#include "verifier/judging/oracle.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "benchsuite/data_files.h"
#include "verifier/comparison/output_rules.h"
#include "verifier/draws/elements.h"
#include "verifier/draws/neighbours.h"
#include "verifier/judging/given_inputs.h"

namespace verifier::judging {
namespace {
constexpr double kLuck = 8;            // times what is allowed
constexpr double kIllConditioned = 4;  // times what is allowed
constexpr int64_t kFewIllConditioned = 2, kElementsForOneIllConditioned = 1 << 15;
constexpr int64_t kFewOfBadLuck = 32, kElementsForOneOfBadLuck = 1 << 11;
constexpr int64_t kMostElementsForNeighbours = 1 << 22;
// Neighbours of a patch, and how many where there are more elements: a second each on the host.
constexpr uint64_t kNeighboursOfAPatch = 6, kNeighboursOfALargePatch = 2;
constexpr int64_t kMostElementsOfALargePatch = 1 << 26;
constexpr uint64_t kWaves = 4;
constexpr int64_t kFewElements = 16;  // of any input

using comparison::Match;
using draws::Distribution;
using verdicts::Verdict;

int64_t most_elements(const benchsuite::Problem& problem, const core::Bindings& axes) {
  int64_t most = 0;
  for (const benchsuite::Tensor& tensor : problem.inputs) most = std::max(most, tensor.elements(axes));
  return most;
}

comparison::Tiling tiling_of(const benchsuite::Tensor& tensor, const core::Bindings& axes) {
  return comparison::tiling_of(static_cast<size_t>(tensor.shape.back().eval(axes)),
                               static_cast<size_t>(tensor.elements(axes)));
}

bool may_be_extreme(Distribution distribution) {
  return draws::may_overflow(distribution) || distribution == Distribution::one_scale;
}

bool is_hardly_any(const verdicts::WrongResult& wrong) {
  return wrong.wrong_elements <= std::max(kFewIllConditioned, wrong.elements / kElementsForOneIllConditioned);
}

// A reference's output as a candidate would give it.
std::vector<std::byte> in_dtype(const benchsuite::Tensor& tensor, const std::vector<std::byte>& wide) {
  const core::DType dtype = tensor.dtype;
  if (tensor.reference_dtype() == dtype) return wide;
  const size_t elements = wide.size() / core::size_bytes(core::DType::f64);
  std::vector<std::byte> bytes(elements * core::size_bytes(dtype));
  for (size_t i = 0; i < elements; ++i) {
    const double right = draws::load_element(core::DType::f64, wide, i);
    draws::store_element(dtype, bytes, i, core::is_floating(dtype) ? right : std::rint(right));
  }
  return bytes;
}

const verdicts::WrongResult* wrong_in(const std::variant<Match, Verdict>& result) {
  const auto* verdict = std::get_if<Verdict>(&result);
  return verdict == nullptr ? nullptr : std::get_if<verdicts::WrongResult>(verdict);
}

// Where a patch makes one element as large as its whole tile and ill-conditioned (a LayerNorm's gamma is an outlier
// where x is close to the mean), the order of a sum decides by how much it errs, and the naive one shows one order.
// `few`: no more than two, however many there are.
bool is_one_ill_conditioned_element(const std::variant<Match, Verdict>& result, bool few) {
  const auto* wrong = wrong_in(result);
  if (wrong == nullptr || wrong->ratio > kIllConditioned) return false;
  return few ? wrong->wrong_elements <= kFewIllConditioned : is_hardly_any(*wrong);
}
}  // namespace

LentBuffers Oracle::make_inputs(const core::Bindings& axes, const benchsuite::Workload* workload,
                                statistics::Keys& keys) {
  LentBuffers inputs;
  for (const benchsuite::Tensor& tensor : problem_.inputs) {
    inputs.push_back(device_.lend(tensor.name, static_cast<size_t>(tensor.bytes(axes)), false, keys));
    if (workload == nullptr || !workload->inputs.contains(tensor.name)) continue;
    device_.store(*inputs.back(), benchsuite::data_of(problem_, *workload, tensor.name));
    inputs.back()->keep_content();
  }
  if (draws_any(inputs)) store_given(inputs, axes, keys.next());
  return inputs;
}

bool Oracle::draws_into(const LentBuffers& inputs, size_t index) const {
  return is_given(problem_.inputs[index]) && !inputs[index]->keeps_content();
}

bool Oracle::draws_any(const LentBuffers& inputs) const {
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) any = any || draws_into(inputs, i);
  return any;
}

void Oracle::store_given(const LentBuffers& inputs, const core::Bindings& axes, uint64_t key) {
  const TensorBytes drawn = draw_given(*drawer_, problem_, axes, statistics::one_way(key));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (draws_into(inputs, i)) device_.store(*inputs[i], drawn[i]);
  }
}

void Oracle::fill(const LentBuffers& inputs, const core::Bindings& axes, Distribution distribution, uint64_t key,
                  double number) {
  statistics::Keys keys(key);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint64_t own = draws::tensor_key(keys, key, distribution, i, inputs.size());
    if (inputs[i]->keeps_content() || is_given(problem_.inputs[i])) continue;
    device_.fill(*inputs[i], problem_.inputs[i], axes, draws::distribution_of(problem_, axes, distribution, key, i),
                 own, draws::number_for(problem_, axes, i, number));
  }
  if (draws_any(inputs)) store_given(inputs, axes, key);
  device_.finish();
}

TensorBytes Oracle::draw(const benchsuite::Workload& workload, statistics::Keys& keys) {
  return draw_inputs(problem_, workload, drawer_.get(), keys);
}

bool Oracle::only_listed() const { return drawer_ == nullptr && std::ranges::any_of(problem_.inputs, is_given); }

bool Oracle::can_draw(const core::Bindings& axes) {
  return drawer_ != nullptr ? can_draw_given(*drawer_, problem_, axes) : !only_listed();
}

bool Oracle::knows_naive(const core::Bindings& axes, Distribution distribution) const {
  const std::vector<benchsuite::Tensor>& outputs = problem_.outputs;
  const auto exact = [](const benchsuite::Tensor& tensor) {
    return !tensor.tolerates_rounding() && tensor.comparison.rule != benchsuite::OutputRule::quanta;
  };
  // Compared bit for bit, or by rules that do not ask the naive solution.
  if (draws::is_exact(distribution) || std::ranges::all_of(outputs, exact)) return true;
  if (std::ranges::any_of(outputs, comparison::has_own_comparison)) return false;
  const auto found = naive_tiles_.find(axes);
  if (!draws::is_disguise(distribution) || found == naive_tiles_.end()) return false;
  // A few numbers, such as a scale of the whole output, change its errors with each draw.
  constexpr int64_t kFew = 64;
  const auto is_few = [&](const benchsuite::Tensor& tensor) {
    return core::is_floating(tensor.dtype) && tensor.elements(axes) < kFew;
  };
  if (std::ranges::any_of(problem_.inputs, is_few)) return false;
  const int64_t large = device_.traits().check.naive_errors_stay_from;
  return found->second.size() == outputs.size() &&
         std::all_of(outputs.begin(), outputs.end(),
                     [&](const benchsuite::Tensor& tensor) { return exact(tensor) || tensor.elements(axes) >= large; });
}

Expected Oracle::expected(const LentBuffers& inputs, const core::Bindings& axes, Distribution distribution,
                          bool with_naive, uint64_t neighbours) {
  Expected expected;
  expected.distribution = distribution;
  if (!draws::is_exact(distribution)) {
    add_neighbours(expected, inputs, axes, std::max(neighbours, draws::neighbours_wanted(problem_, axes)));
  }
  reference_->run(problem_, axes, inputs);
  expected.naive_known = !with_naive && knows_naive(axes, distribution);
  if (!expected.naive_known) naive_->run(problem_, axes, inputs);
  device_.finish();
  return expected;
}

void Oracle::add_neighbours(Expected& expected, const LentBuffers& inputs, const core::Bindings& axes, uint64_t count) {
  if (count == 0) return;
  const bool whole = std::ranges::any_of(problem_.outputs, comparison::has_own_comparison);
  if (!whole) expected.errors_close_by.resize(problem_.outputs.size());
  const TensorBytes content = fetch_all(inputs);
  for (uint64_t neighbour = 0; neighbour < count; ++neighbour) {
    TensorBytes moved = content;
    for (size_t i = 0; i < moved.size(); ++i) {
      draws::jitter_input(moved[i], problem_.inputs[i], neighbour, neighbour * moved.size() + i);
    }
    if (whole) {
      expected.neighbours.push_back(run_trusted(axes, moved));
      continue;
    }
    reference_->run(problem_, axes, moved);
    naive_->run(problem_, axes, moved);
    for (size_t i = 0; i < problem_.outputs.size(); ++i) {
      const benchsuite::Tensor& tensor = problem_.outputs[i];
      if (!core::is_floating(tensor.dtype)) continue;
      expected.errors_close_by[i].push_back(
          device_.naive_errors(tensor.dtype, tiling_of(tensor, axes), *reference_, *naive_, i));
    }
  }
}

TrustedOutputs Oracle::run_trusted(const core::Bindings& axes, const TensorBytes& inputs) {
  reference_->run(problem_, axes, inputs);
  naive_->run(problem_, axes, inputs);
  return {reference_->fetch(), naive_->fetch()};
}

TensorBytes Oracle::fetch_all(const LentBuffers& buffers) const {
  TensorBytes contents;
  for (const auto& buffer : buffers) contents.push_back(device_.fetch(*buffer));
  return contents;
}

std::variant<Match, Verdict> Oracle::compare(const LentBuffers& inputs, const core::Bindings& axes,
                                             const LentBuffers& outputs, size_t index, const Expected& expected,
                                             const verdicts::Where& where) {
  auto result = compare_once(inputs, axes, outputs, index, expected, where);
  if (!std::holds_alternative<Verdict>(result)) return result;
  if (expected.naive_known) {
    // Its errors from another draw may be too small for this one: where it overflows, under a patch, or where a
    // running sum near 0 carries the errors of larger ones.
    result =
        compare_once(inputs, axes, outputs, index, this->expected(inputs, axes, expected.distribution, true), where);
  }
  const int64_t most = most_elements(problem_, axes);
  const bool in_blocks = in_blocks_ && problem_.contract.sums && most <= kMostElementsForNeighbours;
  if (std::holds_alternative<Verdict>(result) && (in_blocks || most <= kFewElements)) {
    // At tiny shapes products may cancel; naive's fused operations then hide what an honest product rounds off.
    const core::DType accumulate = problem_.contract.accumulate;
    const double rounding =
        most <= kFewElements
            ? draws::ulp_at(accumulate, 1)
            : comparison::rounding_of_sums(form_of(inputs, axes, index, expected, where).reduction, accumulate);
    const Expected usual = this->expected(inputs, axes, expected.distribution, true);
    result = compare_once(inputs, axes, outputs, index, with_rounded_sums(inputs, axes, usual, rounding / 2), where);
  }
  // Where two dominant terms of a sum cancel, its order decides.
  if (expected.distribution == Distribution::dominant && is_one_ill_conditioned_element(result, true)) return Match{1};
  if (const uint64_t neighbours = neighbours_of_bad_luck(result, axes, expected); neighbours > 0) {
    result = compare_once(inputs, axes, outputs, index,
                          this->expected(inputs, axes, expected.distribution, true, neighbours), where);
  }
  const core::DType dtype = problem_.outputs[index].dtype;
  const bool narrow = core::size_bytes(dtype) < core::size_bytes(problem_.contract.accumulate);
  if (const auto* wrong = wrong_in(result); wrong != nullptr && narrow && may_be_extreme(expected.distribution) &&
                                            comparison::is_one_more_rounding(*wrong, dtype)) {
    return Match{1};
  }
  // A softmax of scores near 1e30 is the value at the largest one, and rounding decides between two of them.
  if (may_be_extreme(expected.distribution) && is_one_ill_conditioned_element(result, false)) return Match{1};
  return result;
}

// A few elements may decide, in which the naive solution errs by little now and by much for inputs close by: a mean
// that it computes exactly cancels exactly, one sum may be much longer than all others.
uint64_t Oracle::neighbours_of_bad_luck(const std::variant<Match, Verdict>& result, const core::Bindings& axes,
                                        const Expected& expected) const {
  const auto* wrong = wrong_in(result);
  if (wrong == nullptr || expected.has_neighbours() || draws::is_exact(expected.distribution)) return 0;
  // Several rows may have such a mean beside one outlier of what they share.
  const int64_t few = std::max(kFewOfBadLuck, wrong->elements / kElementsForOneOfBadLuck);
  const bool small = wrong->ratio <= kLuck, are_few = wrong->wrong_elements <= few;
  if (may_be_extreme(expected.distribution) ? !small && !are_few : !small || !are_few) return 0;
  const int64_t elements = most_elements(problem_, axes);
  if (elements <= kMostElementsForNeighbours) return kNeighboursOfAPatch;
  return elements <= kMostElementsOfALargePatch && is_hardly_any(*wrong) ? kNeighboursOfALargePatch : 0;
}

// A mean far from zero, or a difference of two, errs by much more once a running sum has it than the naive solution
// shows. How much more the problem itself says: its outputs in double, of inputs that are off as such a sum is. Inputs
// narrower than the sums do not show so small a move.
Expected Oracle::with_rounded_sums(const LentBuffers& inputs, const core::Bindings& axes, Expected expected,
                                   double rounding) {
  const TensorBytes content = fetch_all(inputs);
  const TensorBytes right = reference_->fetch();
  for (uint64_t wave = 0; wave < kWaves; ++wave) {
    TensorBytes moved = content;
    for (size_t i = 0; i < moved.size(); ++i) {
      if (problem_.inputs[i].dtype != problem_.contract.accumulate) continue;
      draws::sway_input(moved[i], problem_.inputs[i], axes, rounding, wave * moved.size() + i);
    }
    TrustedOutputs swayed{right, {}};
    reference_->run(problem_, axes, moved);
    const TensorBytes outputs = reference_->fetch();
    for (size_t i = 0; i < outputs.size(); ++i) {
      swayed.naive.push_back(in_dtype(problem_.outputs[i], outputs[i]));
    }
    expected.neighbours.push_back(std::move(swayed));
  }
  reference_->run(problem_, axes, inputs);
  device_.finish();
  return expected;
}

comparison::OutputForm Oracle::form_of(const LentBuffers& inputs, const core::Bindings& axes, size_t index,
                                       const Expected& expected, const verdicts::Where& where) {
  const benchsuite::Tensor& tensor = problem_.outputs[index];
  std::vector<comparison::Moments> moments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const core::DType dtype = problem_.inputs[i].dtype;
    moments.push_back(core::is_floating(dtype) ? device_.moments(*inputs[i], dtype) : comparison::Moments{});
  }
  return {tensor.dtype,
          problem_.contract.accumulate,
          tiling_of(tensor, axes),
          comparison::reduction_of(problem_, axes, tensor, expected.distribution, moments),
          tensor.name,
          where,
          comparison::extents(tensor, axes),
          draws::may_overflow(expected.distribution),
          error_of_reference(index, expected),
          judges_library_};
}

// PyTorch computes exp(x) - 1 as it stands there: double holds nothing of a denormal beside the 1, and a kernel with
// expm1 is nearer to the truth. Outputs that are tiny for ordinary inputs are not excused so.
double Oracle::error_of_reference(size_t index, const Expected& expected) {
  constexpr double kBesideOne = 0x1p-52, kOfScale = 0x1p-30;
  if (!in_blocks_ || !core::is_floating(problem_.outputs[index].dtype)) return 0;
  if (expected.distribution == Distribution::ordinary && !ordinary_scales_.contains(index)) {
    const std::vector<std::byte> output = reference_->fetch()[index];
    const size_t elements = output.size() / sizeof(double);
    double squares = 0;
    for (size_t i = 0; i < elements; ++i) squares += std::pow(draws::load_element(core::DType::f64, output, i), 2);
    ordinary_scales_[index] = std::sqrt(squares / static_cast<double>(elements));
  }
  const auto scale = ordinary_scales_.find(index);
  return scale == ordinary_scales_.end() || !std::isfinite(scale->second)
             ? 0
             : std::min(kBesideOne, kOfScale * scale->second);
}

std::variant<Match, Verdict> Oracle::compare_on_host(const comparison::OutputForm& form, bool exact,
                                                     const LentBuffers& inputs, const core::Bindings& axes,
                                                     const LentBuffers& outputs, size_t index,
                                                     const Expected& expected) {
  const TensorBytes reference = reference_->fetch();
  const benchsuite::OutputRule rule = problem_.outputs[index].comparison.rule;
  const bool asks_naive = rule != benchsuite::OutputRule::indices && rule != benchsuite::OutputRule::between;
  const TensorBytes naive = expected.naive_known || !asks_naive ? TensorBytes(reference.size()) : naive_->fetch();
  std::vector<comparison::NaiveRun> neighbours;
  for (const TrustedOutputs& one : expected.neighbours) neighbours.push_back({one.reference[index], one.naive[index]});
  if (!comparison::has_own_comparison(problem_.outputs[index])) {
    std::vector<std::vector<comparison::NaiveTile>> errors = naive_tiles(form.dtype, form.tiling, neighbours);
    if (!expected.errors_close_by.empty()) {
      std::ranges::copy(expected.errors_close_by[index], std::back_inserter(errors));
    }
    return comparison::compare(form, exact, device_.fetch(*outputs[index]), {reference[index], naive[index]}, errors);
  }
  TensorBytes got(outputs.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (i == index || problem_.outputs[i].name == problem_.outputs[index].comparison.values) {
      got[i] = device_.fetch(*outputs[i]);
    }
  }
  const auto gather = [&](size_t input, const std::vector<int64_t>& places) {
    return device_.gather(*inputs[input], core::size_bytes(problem_.inputs[input].dtype), places);
  };
  return comparison::compare_by_rule(form, exact,
                                     {problem_,
                                      axes,
                                      index,
                                      gather,
                                      {got.begin(), got.end()},
                                      {reference[index], naive[index]},
                                      std::move(neighbours)});
}

std::variant<Match, Verdict> Oracle::compare_once(const LentBuffers& inputs, const core::Bindings& axes,
                                                  const LentBuffers& outputs, size_t index, const Expected& expected,
                                                  const verdicts::Where& where) {
  const benchsuite::Tensor& tensor = problem_.outputs[index];
  const comparison::OutputForm form = form_of(inputs, axes, index, expected, where);
  const bool exact = draws::is_exact(expected.distribution) || tensor.comparison.rule == benchsuite::OutputRule::equal;
  if (tensor.comparison.rule == benchsuite::OutputRule::quanta) {  // large outputs stay on the device
    const auto found = device_.quanta(
        tensor.dtype, {*outputs[index], *reference_, *naive_, !expected.naive_known, index, exact, nullptr, nullptr});
    const auto match = found ? comparison::pass_as_quanta(form, *found) : std::nullopt;
    if (match) return *match;
  }
  if (!expected.neighbours.empty() || comparison::has_own_comparison(tensor)) {
    return compare_on_host(form, exact, inputs, axes, outputs, index, expected);
  }
  std::vector<std::vector<comparison::NaiveTile>>& tiles = naive_tiles_[axes];
  std::vector<comparison::NaiveTile> learned;
  ComparedOutput compared{*outputs[index], *reference_, *naive_, !expected.naive_known, index, exact};
  if (!expected.errors_close_by.empty()) compared.close_by = expected.errors_close_by[index];
  if (expected.naive_known) {
    if (index < tiles.size()) compared.known = &tiles[index];
    return device_.compare(form, compared);
  }
  compared.learned = &learned;
  auto result = device_.compare(form, compared);
  if (expected.distribution == Distribution::ordinary && tiles.size() == index) tiles.push_back(std::move(learned));
  return result;
}

}  // namespace verifier::judging
