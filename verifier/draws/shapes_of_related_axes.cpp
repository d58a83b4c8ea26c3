#include "verifier/draws/shapes_of_related_axes.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "verifier/draws/axis_sizes.h"
#include "verifier/draws/shapes_of_numbers.h"

namespace verifier::draws {
using source::Condition;
using source::Relation;

namespace {
// Each two axes; those that lie side by side in a tensor, like the sides of an image, or that make up one side of it
// together, three times.
std::vector<std::pair<size_t, size_t>> pairs_of_axes(const benchsuite::Problem& problem) {
  const auto are_neighbours = [&](const std::string& one, const std::string& other) {
    const auto has = [&](const benchsuite::Tensor& tensor) {
      for (size_t i = 0; i < tensor.shape.size(); ++i) {
        const std::set<std::string> names = tensor.shape[i].names();
        if (names.contains(one) && names.contains(other)) return true;
        if (i == 0) continue;
        const std::string before = tensor.shape[i - 1].text(), after = tensor.shape[i].text();
        if ((before == one && after == other) || (before == other && after == one)) return true;
      }
      return false;
    };
    return std::ranges::any_of(problem.inputs, has) || std::ranges::any_of(problem.outputs, has);
  };
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t one = 0; one < problem.axes.size(); ++one) {
    for (size_t other = one + 1; other < problem.axes.size(); ++other) {
      if (!problem.axes[one].values.empty() || !problem.axes[other].values.empty()) continue;
      const bool side_by_side = are_neighbours(problem.axes[one].name, problem.axes[other].name);
      pairs.insert(pairs.end(), side_by_side ? 3 : 1, {one, other});
    }
  }
  return pairs;
}

using Sides = std::pair<int64_t, int64_t>;
// `less`: by how many halvings.
Sides powers_of_two(int less, statistics::Keys& keys) {
  const auto product = 10 + static_cast<int>(keys.below(4)) - less, one = static_cast<int>(keys.below(11));
  return {int64_t{1} << std::min(one, product), int64_t{1} << std::max(product - one, 0)};
}
Sides sides_of_a_power_of_two(int less, statistics::Keys& keys) {
  const int64_t sum = int64_t{1024} << keys.below(3) >> less, one = draw_between(1, sum - 1, keys);
  return {one, sum - one};
}
Sides multiples(int less, statistics::Keys& keys) {
  const int64_t one = draw_between(9, 768 >> less, keys);
  const int64_t other = one * draw_between(2, 8, keys);
  return keys.coin() ? Sides(one, other) : Sides(other, one);
}
}  // namespace

std::vector<core::Bindings> draw_shapes_of_related_axes(const benchsuite::Problem& problem,
                                                        const source::SourceNumbers& numbers, size_t most_shapes,
                                                        int64_t most_elements, int64_t most_flops,
                                                        statistics::Keys& keys) {
  constexpr int64_t kLeastSide = 129, kMostSide = 1536, kMostOther = 9;
  constexpr int kTries = 8;
  std::vector<std::pair<size_t, size_t>> pairs = pairs_of_axes(problem);
  if (pairs.empty()) return {};
  for (size_t i = pairs.size(); i > 1; --i) std::swap(pairs[i - 1], pairs[keys.below(i)]);
  const auto side_of = [&](const benchsuite::Axis& one, const benchsuite::Axis& other, int tries) {
    std::vector<Condition> own;
    std::ranges::copy_if(numbers.conditions, std::back_inserter(own), [&](const Condition& asked) {
      const bool leads = asked.relation == Relation::least || asked.relation == Relation::remainder;
      return leads && (asked.name == one.name || asked.name == other.name) && keys.below(4) > 0;
    });
    if (!own.empty() && keys.coin()) return size_that_meets(one, own, tries, keys);
    const int64_t unit = keys.coin() ? 1 : int64_t{2} << keys.below(4);
    return draw_between(kLeastSide, kMostSide >> tries / 2, keys) / unit * unit;
  };
  const auto sides_of = [&](const benchsuite::Axis& one, const benchsuite::Axis& other, size_t round, int tries) {
    const int less = tries / 2;
    if (round % 2 == 1) {
      const uint64_t relation = keys.below(3);
      return relation == 0   ? multiples(less, keys)
             : relation == 1 ? powers_of_two(less, keys)
                             : sides_of_a_power_of_two(less, keys);
    }
    const int64_t side = side_of(one, other, tries);
    return Sides(side, side);
  };
  std::vector<core::Bindings> shapes;
  for (size_t i = 0; i < most_shapes; ++i) {
    const auto [one, other] = pairs[i % pairs.size()];
    for (int tries = 0; tries < kTries; ++tries) {
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) {
        axes[axis.name] =
            axis.values.empty() ? into_domain(axis, draw_between(1, kMostOther, keys)) : one_of(axis.values, keys);
      }
      const benchsuite::Axis &first = problem.axes[one], &second = problem.axes[other];
      const auto [side, other_side] = sides_of(first, second, i / pairs.size(), tries);
      axes[first.name] = into_domain(first, side);
      axes[second.name] = into_domain(second, other_side);
      if (!small_enough(problem, axes, most_elements, most_flops)) continue;
      shapes.push_back(std::move(axes));
      break;
    }
  }
  return shapes;
}

}  // namespace verifier::draws
