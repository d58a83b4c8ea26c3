// Shapes at and near the ends of a problem's domain (shapes.h).
#include <algorithm>
#include <optional>

#include "verifier/draws/axis_sizes.h"
#include "verifier/draws/shapes.h"

namespace verifier::draws {
namespace {
constexpr int64_t kLeastWide = 64;

// A side of tiles that a kernel may have a path of its own for.
int64_t drawn_tile(statistics::Keys& keys) { return kMultiple << keys.below(3); }
// Down to whole tiles, where there is one.
int64_t whole_tiles(int64_t size, int64_t tile) { return size < tile ? size : size / tile * tile; }
}  // namespace

std::vector<core::Bindings> corner_shapes(const benchsuite::Problem& problem, int64_t most_elements) {
  std::vector<core::Bindings> corners{{}};
  for (const benchsuite::Axis& axis : problem.axes) {
    std::vector<core::Bindings> longer;
    for (const core::Bindings& axes : corners) {
      for (const int64_t value : {axis.min, axis.max}) {
        longer.push_back(axes);
        longer.back()[axis.name] = into_domain(axis, value);
      }
    }
    corners = std::move(longer);
  }
  for (core::Bindings& axes : corners) {  // those that no device could hold come nearer
    for (size_t i = 0; i < 200 && !small_enough(problem, axes, most_elements, INT64_MAX); ++i) {
      const benchsuite::Axis& axis = problem.axes[i % problem.axes.size()];
      axes[axis.name] = into_domain(axis, axes[axis.name] / 2);
    }
  }
  std::erase_if(corners,
                [&](const core::Bindings& axes) { return !small_enough(problem, axes, most_elements, INT64_MAX); });
  return corners;
}

namespace {
core::Bindings thin_shape(const benchsuite::Problem& problem, statistics::Keys& keys) {
  core::Bindings axes;
  for (const benchsuite::Axis& axis : problem.axes) {
    axes[axis.name] = into_domain(axis, axis.min + static_cast<int64_t>(keys.below(3)));
  }
  return axes;
}

enum class Sizes { odd, whole_tiles, any };

// The axes `large` as large as the limits allow, alike or in drawn proportions; the others small. Odd ones have odd
// offsets.
std::optional<core::Bindings> balanced_shape(const benchsuite::Problem& problem,
                                             const std::vector<const benchsuite::Axis*>& large, Sizes sizes,
                                             int64_t most_elements, int64_t most_flops, statistics::Keys& keys) {
  core::Bindings axes = thin_shape(problem, keys);
  const int64_t tile = drawn_tile(keys);
  const auto set = [&](const benchsuite::Axis& axis, int64_t size) {
    if (axis.values.empty() && sizes == Sizes::odd) size -= (size + 1) % 2;
    if (axis.values.empty() && sizes == Sizes::whole_tiles) size = whole_tiles(size, tile);
    axes[axis.name] = into_domain(axis, size);
  };
  const bool alike = keys.below(4) != 0;
  for (const benchsuite::Axis* axis : large) {
    const int64_t least = std::max(axis->min, alike && axis->values.empty() ? axis->max : axis->max / 4);
    set(*axis,
        axis->values.empty() ? draw_between(least, axis->max, keys) : draw_between(*axis, least, axis->max, keys));
  }
  for (int step = 0; step < 400; ++step) {
    if (small_enough(problem, axes, most_elements, most_flops)) return axes;
    const benchsuite::Axis& axis = *large[keys.below(large.size())];
    set(axis, axes[axis.name] * 31 / 32);
  }
  return std::nullopt;
}

// A shape of little more than 2^31 elements in its largest tensor.
std::optional<core::Bindings> shape_beyond_32_bits(const benchsuite::Problem& problem, int64_t most_elements,
                                                   int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kBeyond = int64_t{1} << 31;
  core::Bindings axes;
  for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] = axis.max;
  std::optional<core::Bindings> smallest;
  for (int step = 0; step < 200 && !small_enough(problem, axes, kBeyond, INT64_MAX); ++step) {
    if (small_enough(problem, axes, most_elements, most_flops)) smallest = axes;
    const benchsuite::Axis& axis = problem.axes[keys.below(problem.axes.size())];
    axes[axis.name] = axis.at_most(axes[axis.name] * 15 / 16);
  }
  return smallest;
}
}  // namespace

std::vector<core::Bindings> draw_ends_of_axes(const benchsuite::Problem& problem, int64_t most_cost,
                                              statistics::Keys& keys) {
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Axis& axis : problem.axes) {
    core::Bindings axes = thin_shape(problem, keys);
    axes[axis.name] = axis.max;
    // A table may be far larger than what is read of it.
    const bool fits = cost_of(problem, axes) <= most_cost && largest_tensor(problem, axes) <= most_cost;
    if (fits) shapes.push_back(std::move(axes));
  }
  return shapes;
}

std::vector<core::Bindings> draw_long_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                             int64_t most_elements, int64_t most_flops, statistics::Keys& keys,
                                             int64_t most_times_listed) {
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Axis& large : problem.axes) {
    const int64_t listed = listed_size(problem, backend, large.name);
    const int64_t near = listed > large.max / most_times_listed ? large.max : listed * most_times_listed;
    const int64_t most = greatest_up_to(large, std::min(most_elements, near));
    if (listed >= most) continue;
    core::Bindings axes = thin_shape(problem, keys);
    const int64_t least = keys.coin() ? listed + 1 : std::max(listed + 1, most / 2);
    int64_t size = large.values.empty() ? draw_between(least, most, keys) : draw_between(large, least, most, keys);
    constexpr Sizes kSizes[] = {Sizes::odd, Sizes::any, Sizes::any, Sizes::whole_tiles};
    const Sizes sizes = kSizes[keys.below(std::size(kSizes))];
    const int64_t tile = drawn_tile(keys);
    do {
      const bool is_whole = sizes == Sizes::whole_tiles;
      axes[large.name] = into_domain(large, is_whole ? whole_tiles(size, tile) : size | (sizes == Sizes::odd ? 1 : 0));
      size = size * 7 / 8;
    } while (!small_enough(problem, axes, most_elements, most_flops) && size > listed);
    if (small_enough(problem, axes, most_elements, most_flops)) shapes.push_back(std::move(axes));
  }
  return shapes;
}

std::vector<core::Bindings> draw_tails_of_the_only_axis(const benchsuite::Problem& problem, const std::string& backend,
                                                        int64_t most_elements, int64_t most_flops,
                                                        statistics::Keys& keys) {
  constexpr int64_t kTails = 4, kLeastTimes = 3, kMostTimes = 8;
  std::vector<core::Bindings> shapes;
  if (problem.axes.size() > 1 || !problem.axes[0].values.empty()) return shapes;
  const benchsuite::Axis& axis = problem.axes[0];
  const int64_t listed = listed_size(problem, backend, axis.name);
  const int64_t most = std::min({kMostTimes * listed, axis.max, most_elements}) - kTails;
  for (int64_t tail = 0; tail < kTails; ++tail) {
    const int64_t size = draw_between(std::min(kLeastTimes * listed, most / 2), most, keys) / kTails * kTails + tail;
    const core::Bindings axes{{axis.name, axis.at_most(size)}};
    if (small_enough(problem, axes, most_elements, most_flops)) shapes.push_back(axes);
  }
  return shapes;
}

std::vector<core::Bindings> draw_rows_of_tiles(const benchsuite::Problem& problem, const std::string& backend,
                                               int64_t most_elements, int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kTile = 64, kLeastTiles = 6, kMostTiles = 16;
  const auto whole_tiles = [&](core::Bindings axes) {
    for (const benchsuite::Axis& axis : problem.axes) {
      int64_t& size = axes[axis.name];
      if (axis.values.empty() && size > kTile / 2) size = axis.at_most((size + kTile - 1) / kTile * kTile);
    }
    return axes;
  };
  const benchsuite::Workload* base = nullptr;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role != benchsuite::Role::bench || !workload.runs_on(backend)) continue;
    if (!small_enough(problem, whole_tiles(workload.axes), most_elements, most_flops)) continue;
    if (base == nullptr || problem.cost.flops.eval(workload.axes) > problem.cost.flops.eval(base->axes))
      base = &workload;
  }
  std::vector<core::Bindings> shapes;
  if (base == nullptr) return shapes;
  for (const benchsuite::Axis& axis : problem.axes) {
    core::Bindings axes = whole_tiles(base->axes);
    const int64_t listed = axes[axis.name];
    if (!axis.values.empty() || listed < kTile) continue;
    for (int64_t tiles = draw_between(kLeastTiles, kMostTiles, keys); tiles * kTile > listed; --tiles) {
      axes[axis.name] = axis.at_most(tiles * kTile);
      if (!small_enough(problem, axes, most_elements, most_flops)) continue;
      shapes.push_back(axes);
      break;
    }
  }
  return shapes;
}

std::vector<core::Bindings> draw_long_and_wide_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                                      int64_t most_elements, int64_t most_flops,
                                                      statistics::Keys& keys) {
  constexpr int kWideSteps = 100;
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Axis& large : problem.axes) {
    const int64_t listed = listed_size(problem, backend, large.name);
    const int64_t most = greatest_up_to(large, most_elements / kLeastWide);
    if (problem.axes.size() == 1 || listed >= most) continue;
    core::Bindings axes;
    std::vector<const benchsuite::Axis*> others;
    for (const benchsuite::Axis& axis : problem.axes) {
      if (&axis == &large) {
        axes[axis.name] = draw_between(axis, listed + 1, most, keys);
        continue;
      }
      others.push_back(&axis);
      const int64_t widest = std::max(kLeastWide, most_elements / listed);
      axes[axis.name] =
          axis.values.empty() ? into_domain(axis, draw_between(kLeastWide, widest, keys)) : one_of(axis.values, keys);
    }
    for (int step = 0; step < 2 * kWideSteps && !small_enough(problem, axes, most_elements, most_flops); ++step) {
      const benchsuite::Axis& other = *others[keys.below(others.size())];
      // A square or a product of several sides may leave no room for wide ones.
      const bool narrows = axes[other.name] > (step < kWideSteps ? kLeastWide : other.min) && keys.below(4) != 0;
      const benchsuite::Axis& shrunk = narrows ? other : large;
      axes[shrunk.name] = shrunk.at_most(axes[shrunk.name] * 7 / 8);
    }
    if (keys.coin()) {  // a kernel may have a path of its own for whole tiles
      for (const benchsuite::Axis& axis : problem.axes) {
        const int64_t tiles = axes[axis.name] / kMultiple;
        if (tiles > 0) axes[axis.name] = axis.at_most(tiles * kMultiple);
      }
    }
    if (axes[large.name] > listed && small_enough(problem, axes, most_elements, most_flops)) {
      shapes.push_back(std::move(axes));
    }
  }
  return shapes;
}

std::vector<core::Bindings> far_shapes(const benchsuite::Problem& problem, int64_t most_elements, int64_t most_flops,
                                       int64_t most_flops_of_large, statistics::Keys& keys) {
  std::vector<core::Bindings> shapes;
  const auto fits = [&](const core::Bindings& axes) { return small_enough(problem, axes, most_elements, most_flops); };
  const auto add_thin = [&](const benchsuite::Axis& large, int64_t size) {
    core::Bindings axes = thin_shape(problem, keys);
    axes[large.name] = into_domain(large, std::min(size, most_elements));
    const bool round = size % 2 == 0 && keys.coin();
    const int64_t tile = drawn_tile(keys);
    while (!fits(axes) && axes[large.name] > large.min) {
      const int64_t less = axes[large.name] * 7 / 8;
      axes[large.name] = large.at_most(round ? whole_tiles(less, tile) : less);
    }
    if (fits(axes)) shapes.push_back(std::move(axes));
  };
  for (const benchsuite::Axis& large : problem.axes) {
    add_thin(large, large.max);
    // An end of the domain is often a multiple of all tiles, so a drawn size near it has the tail. A problem with one
    // axis has its own below.
    const int64_t most = std::min(large.max, most_elements);
    if (problem.axes.size() > 1 && is_inner(problem, large) && large.values.empty()) {
      add_thin(large, draw_between(std::max(large.min, most / 2), most, keys) | (keys.coin() ? 1 : 0));
    }
  }
  std::vector<const benchsuite::Axis*> all;
  for (const benchsuite::Axis& axis : problem.axes) all.push_back(&axis);
  const auto add_balanced = [&](Sizes sizes) {
    if (const auto shape = balanced_shape(problem, all, sizes, most_elements, most_flops_of_large, keys))
      shapes.push_back(*shape);
  };
  add_balanced(Sizes::odd);
  if (all.size() > 1) add_balanced(Sizes::whole_tiles);
  while (all.size() > 2) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(keys.below(all.size())));
    if (all.size() == 2) add_balanced(keys.coin() ? Sizes::odd : Sizes::whole_tiles);
  }
  if (const auto huge = shape_beyond_32_bits(problem, most_elements, most_flops, keys)) shapes.push_back(*huge);
  return shapes;
}

void come_nearer(const benchsuite::Problem& problem, core::Bindings& axes, double share) {
  const auto size = [&](const benchsuite::Axis& axis) { return axes.at(axis.name); };
  const benchsuite::Axis& largest = *std::ranges::max_element(problem.axes, {}, size);
  axes[largest.name] = largest.at_most(static_cast<int64_t>(static_cast<double>(size(largest)) * share));
}

BenchSize bench_size(const benchsuite::Problem& problem, const std::string& backend) {
  BenchSize size;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role != benchsuite::Role::bench || !workload.runs_on(backend)) continue;
    for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
      for (const benchsuite::Tensor& tensor : *tensors) {
        size.elements = std::max(size.elements, tensor.elements(workload.axes));
      }
    }
    size.flops = std::max(size.flops, problem.cost.flops.eval(workload.axes));
  }
  return size;
}

}  // namespace verifier::draws
