#include "verifier/draws/shapes_of_index_arithmetic.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <utility>

#include "verifier/draws/axis_sizes.h"

namespace verifier::draws {
namespace {
constexpr int kTries = 12;  // with shorter other axes each time

// The shape `draw(most_short)` for a `most_short` that is small enough.
template <typename Draw>
std::optional<core::Bindings> first_small_enough(const benchsuite::Problem& problem, int64_t most_short,
                                                 int64_t most_elements, int64_t most_flops, const Draw& draw) {
  for (int i = 0; i < kTries; ++i) {
    const core::Bindings axes = draw(std::max<int64_t>(most_short >> i, 1));
    if (small_enough(problem, axes, most_elements, most_flops)) return axes;
  }
  return std::nullopt;
}

core::Bindings short_axes(const benchsuite::Problem& problem, int64_t least, int64_t most_short,
                          statistics::Keys& keys) {
  core::Bindings axes;
  for (const benchsuite::Axis& axis : problem.axes) {
    axes[axis.name] = axis.values.empty()
                          ? into_domain(axis, draw_between(std::min(least, most_short), most_short, keys))
                          : one_of(axis.values, keys);
  }
  return axes;
}
bool is_range(const benchsuite::Axis& axis) { return axis.values.empty(); }
}  // namespace

std::vector<core::Bindings> draw_shapes_of_pairs(const benchsuite::Problem& problem, int64_t most_elements,
                                                 int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kEnd = 1 << 16, kLeastSide = 130, kWhole = 8;
  std::vector<core::Bindings> shapes;
  for (auto one = problem.axes.begin(); one != problem.axes.end(); ++one) {
    for (auto other = one + 1; other != problem.axes.end(); ++other) {
      if (!is_range(*one) || !is_range(*other)) continue;
      const bool first_is_odd = keys.coin();
      for (const bool odd : {first_is_odd, !first_is_odd}) {
        const auto sized = [&](const benchsuite::Axis& axis, int64_t size) {
          const int64_t largest = odd ? axis.max - (axis.max + 1) % 2 : axis.max / kWhole * kWhole;
          return into_domain(axis, std::min(odd ? size | 1 : (size + kWhole - 1) / kWhole * kWhole, largest));
        };
        const auto shape = first_small_enough(problem, 3, most_elements, most_flops, [&](int64_t most_short) {
          core::Bindings axes = short_axes(problem, 1, most_short, keys);
          const int64_t product = kEnd + 1 + static_cast<int64_t>(keys.below(kEnd / 4));
          const int64_t least = std::max(kLeastSide, product / std::max(other->max - kWhole + 1, int64_t{1}) + 1);
          const int64_t most = std::max(least, kEnd / kLeastSide);
          const int64_t first = axes[one->name] = sized(*one, draw_between(least, most, keys));
          axes[other->name] = sized(*other, (product + first - 1) / first);
          return axes;
        });
        if (shape && shape->at(one->name) * shape->at(other->name) > kEnd) shapes.push_back(*shape);
      }
    }
  }
  return shapes;
}

std::vector<core::Bindings> draw_shapes_of_quotients(const benchsuite::Problem& problem,
                                                     const source::SourceNumbers& numbers, int64_t most_elements,
                                                     int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kShort[] = {41, 47, 55, 61, 82, 83, 94, 97, 107, 109};  // n * (1.0f / n) < 1
  constexpr int64_t kMostTile = 256, kLeastRows = 3, kMostShort = 8;
  constexpr size_t kMost = 32, kSmallest = 3;  // shapes; the least of kShort, for where others are too large
  std::vector<int64_t> tiles = {1, 4, 8};
  for (const auto* some : {&numbers.decisive, &numbers.others}) {
    for (const int64_t number : *some) {
      const bool is_tile = number > 1 && number <= kMostTile && std::has_single_bit(static_cast<uint64_t>(number));
      if (is_tile && std::ranges::find(tiles, number) == tiles.end()) tiles.push_back(number);
    }
  }
  // An axis, or the product of two that follow each other, by a size of tiles.
  struct Divided {
    const benchsuite::Axis *axis, *before;
    int64_t tile;
  };
  std::vector<Divided> all;
  const benchsuite::Axis* before = nullptr;
  for (const benchsuite::Axis& axis : problem.axes) {
    for (const benchsuite::Axis* factor : {static_cast<const benchsuite::Axis*>(nullptr), before}) {
      if (!is_range(axis)) continue;
      for (const int64_t tile : tiles) all.push_back({&axis, factor, tile});
      if (before == nullptr) break;
    }
    before = &axis;
  }
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[keys.below(i)]);
  all.resize(std::min(all.size(), numbers.multiplies_by_reciprocals ? kMost : 2 * problem.axes.size()));
  std::vector<core::Bindings> shapes;
  for (const Divided& divided : all) {
    const auto shape = first_small_enough(problem, kMostShort, most_elements, most_flops, [&](int64_t most_short) {
      core::Bindings axes = short_axes(problem, kLeastRows, most_short, keys);
      size_t fitting = most_short == kMostShort ? std::size(kShort) : kSmallest;
      while (fitting > 1 && divided.tile * kShort[fitting - 1] > divided.axis->max) --fitting;
      const int64_t size = divided.tile * kShort[keys.below(fitting)];
      const int64_t factor = divided.before == nullptr ? 1 : axes[divided.before->name];
      axes[divided.axis->name] = into_domain(*divided.axis, std::max(size / factor, divided.axis->min));
      return axes;
    });
    if (shape && std::ranges::find(shapes, *shape) == shapes.end()) shapes.push_back(*shape);
  }
  return shapes;
}

std::vector<core::Bindings> draw_shapes_of_rounded_sizes(const benchsuite::Problem& problem,
                                                         const source::SourceNumbers& numbers, int64_t most_elements,
                                                         int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kLeast = 1 << 20, kWholeFloats = 1 << 24, kMostBeyond = 4, kLeastFactor = 3;
  std::vector<int64_t> factors;
  std::ranges::copy_if(numbers.decisive, std::back_inserter(factors), [](int64_t n) { return n >= kLeastFactor; });
  std::ranges::copy_if(numbers.others, std::back_inserter(factors), [](int64_t n) { return n >= kLeastFactor; });
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Axis& axis : problem.axes) {
    core::Bindings axes = short_axes(problem, 1, 1, keys);
    const auto fits = [&](int64_t size) {
      axes[axis.name] = into_domain(axis, size);
      return small_enough(problem, axes, most_elements, most_flops);
    };
    const int64_t end = std::min(axis.max, most_elements);
    if (!is_range(axis) || end <= kLeast + kMostBeyond) continue;
    if (!factors.empty() && end > kWholeFloats && keys.coin()) {
      const int64_t factor = factors[keys.below(factors.size())], size = (end - 1) / factor * factor + 1;
      if (size > kWholeFloats && fits(size)) {
        shapes.push_back(axes);
        continue;
      }
    }
    auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(end - kMostBeyond)));
    if (power > kLeast && keys.coin()) power /= 2;
    for (; power >= kLeast; power /= 2) {
      if (!fits(power + 1 + static_cast<int64_t>(keys.below(kMostBeyond)))) continue;
      shapes.push_back(axes);
      break;
    }
  }
  return shapes;
}

std::vector<core::Bindings> draw_shapes_of_bounds(const benchsuite::Problem& problem, int64_t most_elements,
                                                  int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kLeastOther = 64;
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Axis& bound : problem.axes) {
    if (!bounds_values(problem, bound)) continue;
    for (const int64_t size : {bound.max, draw_between(std::max(bound.min, bound.max / 2), bound.max, keys)}) {
      for (int64_t most_other = most_elements; most_other >= 1; most_other /= 2) {
        core::Bindings axes;
        for (const benchsuite::Axis& axis : problem.axes) {
          const int64_t most = greatest_up_to(axis, std::max(axis.min, most_other));
          axes[axis.name] = draw_between(axis, std::min(std::max(axis.min, kLeastOther), most), most, keys);
        }
        axes[bound.name] = into_domain(bound, size);
        if (!small_enough(problem, axes, most_elements, most_flops)) continue;
        shapes.push_back(std::move(axes));
        break;
      }
    }
  }
  return shapes;
}

}  // namespace verifier::draws
