#include "verifier/draws/shapes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

namespace verifier::draws {
namespace {
constexpr int64_t kAwkward[] = {1,   2,   3,   7,   13,  31,  32,  33,   61,   63,   64,   65,   97,   127,  128,
                                129, 251, 255, 257, 509, 513, 769, 1021, 1025, 2047, 2049, 4093, 8191, 16381};

constexpr int64_t kMultiple = 64;
constexpr int64_t kLeastWide = 64;
constexpr int kSquares = 8;         // one square for so many residues
constexpr int kTriesOfAReach = 4;   // before a residue's shape has fewer tiles
constexpr int64_t kForOneTile = 4;  // times the operations that a residue's shape may have otherwise
constexpr int64_t kBeyond =
    4;  // times the largest listed: what a kernel with a block for each row can still do in time

constexpr int64_t kLeastSizes = 8;           // that a free axis has
constexpr int64_t kMostReachable = 1 << 24;  // elements of a tensor: no device is too small for them

int64_t into_domain(const benchsuite::Axis& axis, int64_t wanted) {
  if (!axis.values.empty()) return axis.at_most(wanted);
  const int64_t unit = axis.multiple_of;
  const int64_t rounded = (std::clamp(wanted, axis.min, axis.max) + unit - 1) / unit * unit;
  return std::clamp(rounded, axis.min, axis.max);
}

int64_t one_of(const std::vector<int64_t>& values, statistics::Keys& keys) { return values[keys.below(values.size())]; }

// Half the time an awkward value, half the time any small one; any of a list.
int64_t draw_awkward(const benchsuite::Axis& axis, statistics::Keys& keys) {
  if (!axis.values.empty()) return one_of(axis.values, keys);
  return into_domain(
      axis, keys.coin() ? kAwkward[keys.below(std::size(kAwkward))] : 1 + static_cast<int64_t>(keys.below(700)));
}

// Between the limits, with a liking for no order of magnitude.
int64_t draw_between(int64_t least, int64_t most, statistics::Keys& keys) {
  const double share = static_cast<double>(keys.below(1 << 20)) / (1 << 20);
  const auto low = static_cast<double>(least), high = static_cast<double>(most);
  return static_cast<int64_t>(low * std::pow(high / low, share));
}

// The same in an axis's domain. A list has a value between the limits.
int64_t draw_between(const benchsuite::Axis& axis, int64_t least, int64_t most, statistics::Keys& keys) {
  if (axis.values.empty()) return into_domain(axis, draw_between(least, most, keys));
  std::vector<int64_t> between;
  std::ranges::copy_if(axis.values, std::back_inserter(between), [&](int64_t v) { return v >= least && v <= most; });
  return one_of(between, keys);
}

using Draw = std::function<core::Bindings()>;

// A limit that leaves sizes to draw where a problem's smallest shape reaches it: weights of 4096 x 4096 may be fixed.
int64_t reachable(int64_t limit, int64_t at_least, int64_t most) {
  return std::max({limit, at_least, at_least > most / kLeastSizes ? 0 : kLeastSizes * at_least});
}

bool small_enough(const benchsuite::Problem& problem, const core::Bindings& axes, int64_t most_elements,
                  int64_t most_flops) {
  core::Bindings least;
  for (const benchsuite::Axis& axis : problem.axes) least[axis.name] = axis.min;
  try {
    for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
      for (const benchsuite::Tensor& tensor : *tensors) {
        const int64_t elements = tensor.elements(axes);
        if (elements < 1 || elements > reachable(most_elements, tensor.elements(least), kMostReachable)) return false;
      }
    }
    return problem.cost.flops.eval(axes) <= reachable(most_flops, problem.cost.flops.eval(least), INT64_MAX);
  } catch (const core::ExprError&) {
    return false;
  }
}
}  // namespace

namespace {
// The largest listed size of an axis.
int64_t listed_size(const benchsuite::Problem& problem, const std::string& backend, const std::string& axis) {
  int64_t listed = 1;
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.runs_on(backend)) listed = std::max(listed, workload.axes.at(axis));
  }
  return listed;
}

// The greatest size of an axis that is not above `limit`; of a range the limit itself, which need not be a multiple.
int64_t greatest_up_to(const benchsuite::Axis& axis, int64_t limit) {
  return axis.values.empty() ? std::min(axis.max, limit) : axis.at_most(limit);
}
}  // namespace

std::vector<core::Bindings> draw_unseen_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                               int count, int64_t most_elements, int64_t most_flops,
                                               statistics::Keys& keys) {
  constexpr int kTries = 400;
  std::vector<core::Bindings> shapes;
  const auto is_new = [&](const core::Bindings& axes) {
    return std::count(shapes.begin(), shapes.end(), axes) == 0 &&
           std::none_of(problem.workloads.begin(), problem.workloads.end(),
                        [&](const benchsuite::Workload& workload) { return workload.axes == axes; });
  };
  const auto add = [&](const Draw& draw) {
    for (int i = 0; i < kTries; ++i) {
      core::Bindings axes = draw();
      if (!small_enough(problem, axes, most_elements, most_flops) || !is_new(axes)) continue;
      shapes.push_back(std::move(axes));
      return;
    }
  };
  const auto awkward = [&] {
    core::Bindings axes;
    for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] = draw_awkward(axis, keys);
    return axes;
  };
  for (int i = 0; i < count; ++i) add(awkward);
  if (count == 0) return shapes;
  for (const benchsuite::Axis& large : problem.axes) {
    const int64_t listed = listed_size(problem, backend, large.name);
    const int64_t most = greatest_up_to(large, std::min(most_elements, kBeyond * listed));
    if (listed >= most) continue;
    add([&] {
      core::Bindings axes = awkward();
      axes[large.name] = draw_between(large, listed + 1, most, keys);
      return axes;
    });
  }
  add([&] {
    core::Bindings axes;
    const bool square = keys.coin();
    const auto multiple = [&] { return kMultiple * draw_between(1, 64, keys); };
    const int64_t side = multiple();
    for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] = into_domain(axis, square ? side : multiple());
    return axes;
  });
  return shapes;
}

namespace {
// Is it the last one of a tensor, along which vectors and tails are?
bool is_inner(const benchsuite::Problem& problem, const benchsuite::Axis& axis) {
  const auto has = [&](const std::vector<benchsuite::Tensor>& tensors) {
    return std::ranges::any_of(
        tensors, [&](const benchsuite::Tensor& tensor) { return tensor.shape.back().text() == axis.name; });
  };
  return has(problem.inputs) || has(problem.outputs);
}
}  // namespace

std::vector<core::Bindings> draw_residue_shapes(const benchsuite::Problem& problem, const Residues& wanted,
                                                statistics::Keys& keys) {
  const int count = wanted.count;
  std::map<std::string, std::vector<int64_t>> residues;  // of a list its values, again and again
  for (const benchsuite::Axis& axis : problem.axes) {
    std::vector<int64_t>& all = residues[axis.name];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t next = axis.values.empty() ? i : axis.values[static_cast<size_t>(i) % axis.values.size()];
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(keys.below(all.size() + 1)), next);
    }
  }
  std::vector<core::Bindings> shapes;
  const auto add = [&](core::Bindings axes, int64_t times = 1) {
    if (!small_enough(problem, axes, wanted.most_elements, times * wanted.most_flops)) return false;
    shapes.push_back(std::move(axes));
    return true;
  };
  for (int i = 0; i < count; ++i) {
    // With a drawn number of whole tiles before the tail; where that is too much, with others, then with fewer. One
    // tile may cost more than several; where even that is too much, there is none.
    int tries = 0;
    for (int64_t most_multiples = std::max<int64_t>(wanted.inner_reach / count, 1);;) {
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) {
        const int64_t residue = residues[axis.name][static_cast<size_t>(i)];
        if (!axis.values.empty()) {
          axes[axis.name] = residue;
          continue;
        }
        const bool has_tiles = is_inner(problem, axis) && most_multiples > 0;
        const int64_t multiples = has_tiles ? draw_between(1, most_multiples, keys) : residue == 0 ? 1 : 0;
        axes[axis.name] = into_domain(axis, residue + count * multiples);
      }
      if (add(std::move(axes), most_multiples == 1 ? kForOneTile : 1) || most_multiples == 0) break;
      if (++tries % kTriesOfAReach == 0) most_multiples /= 2;
    }
  }
  for (int i = 0; i < count / kSquares && problem.axes.size() > 1; ++i) {  // of any residue
    const auto side = 1 + static_cast<int64_t>(keys.below(static_cast<uint64_t>(2 * count)));
    core::Bindings axes;
    for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] = into_domain(axis, side);
    add(std::move(axes));
  }
  return shapes;
}

namespace {
// What a kernel may take for a size of whole tiles: a listed one, or a few times a power of two or of ten.
int64_t draw_round(const benchsuite::Problem& problem, const std::string& backend, const benchsuite::Axis& axis,
                   statistics::Keys& keys) {
  if (problem.axes.size() > 1 && keys.coin()) {
    std::vector<int64_t> listed;
    for (const benchsuite::Workload& workload : problem.workloads) {
      if (workload.role == benchsuite::Role::bench && workload.runs_on(backend))
        listed.push_back(workload.axes.at(axis.name));
    }
    if (!listed.empty()) return one_of(listed, keys);
  }
  const int64_t times = 1 + static_cast<int64_t>(keys.below(6));
  return times * (keys.below(4) == 0 ? (keys.coin() ? 100 : 500) : int64_t{16} << keys.below(10));
}

// Mostly with a tail: at least a few tiles' worth, or now and then as small as the domain allows.
int64_t draw_rough(const benchsuite::Axis& axis, int64_t most, statistics::Keys& keys) {
  return keys.below(6) == 0 ? axis.min : draw_between(std::min<int64_t>(16, most), most, keys);
}
}  // namespace

std::vector<core::Bindings> draw_crossed_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                                int times, int64_t most_elements, int64_t most_flops,
                                                statistics::Keys& keys) {
  constexpr int64_t kMostRough = 512;
  constexpr size_t kMostCrossed = 4;
  constexpr int kTries = 40, kMostShapes = 72;
  const size_t count = problem.axes.size();
  std::vector<size_t> order(count);  // of axes; of many, some are crossed, and the others go with the last
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[keys.below(i)]);
  const size_t crossed = std::min(count, kMostCrossed);
  std::vector<core::Bindings> shapes;
  const auto add = [&](const std::function<core::Bindings(int64_t most_rough)>& draw) {
    for (int i = 0; i < kTries; ++i) {
      core::Bindings axes = draw(std::max<int64_t>(kMostRough >> i / 4, 1));
      if (!small_enough(problem, axes, most_elements, most_flops)) continue;
      shapes.push_back(std::move(axes));
      return;
    }
  };
  const auto size_of = [&](const benchsuite::Axis& axis, bool round, int64_t most_rough) {
    if (!axis.values.empty()) return one_of(axis.values, keys);
    return into_domain(axis, round ? draw_round(problem, backend, axis, keys) : draw_rough(axis, most_rough, keys));
  };
  const int sets = (1 << crossed) - 1;
  for (int round = 1; round <= sets; ++round) {
    for (int i = 0; i < std::clamp(kMostShapes / sets, 1, times); ++i) {
      add([&](int64_t most_rough) {
        core::Bindings axes;
        for (size_t k = 0; k < count; ++k) {
          const benchsuite::Axis& axis = problem.axes[order[k]];
          axes[axis.name] = size_of(axis, (round >> std::min(k, crossed - 1) & 1) != 0, most_rough);
        }
        return axes;
      });
    }
  }
  for (size_t i = 0; i + 1 < count; ++i) {  // two of them equal
    add([&](int64_t most_rough) {
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] = size_of(axis, false, most_rough);
      const benchsuite::Axis& second = problem.axes[order[i + 1]];
      axes[second.name] = into_domain(second, axes[problem.axes[order[i]].name]);
      return axes;
    });
  }
  return shapes;
}

std::vector<core::Bindings> draw_middle_shapes(const benchsuite::Problem& problem, int64_t count, int64_t most_elements,
                                               int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kLeastLong = 1024, kMostShort = 256;
  std::vector<core::Bindings> shapes;
  const size_t first = keys.below(problem.axes.size());
  for (int64_t i = 0; i < count; ++i) {
    const benchsuite::Axis& large = problem.axes[(first + static_cast<size_t>(i)) % problem.axes.size()];
    const auto draw_long = [&] {
      if (!large.values.empty()) return one_of(large.values, keys);
      const int64_t most = std::min(large.max, most_elements);
      const int64_t size = draw_between(std::min(kLeastLong, most), most, keys);
      const int64_t unit = keys.coin() ? 1 : int64_t{4} << keys.below(5);
      return into_domain(large, std::max(size / unit * unit, unit));
    };
    // The others are short, mostly longer than a vector, and shorter still where that is too much.
    for (int64_t most_short = kMostShort; most_short > 0; most_short /= 2) {
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) {
        axes[axis.name] = &axis == &large       ? draw_long()
                          : axis.values.empty() ? into_domain(axis, draw_rough(axis, most_short, keys))
                                                : one_of(axis.values, keys);
      }
      if (!small_enough(problem, axes, most_elements, most_flops)) continue;
      shapes.push_back(std::move(axes));
      break;
    }
  }
  return shapes;
}

std::vector<core::Bindings> draw_square_shape(const benchsuite::Problem& problem, int64_t most_elements,
                                              int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kLeastSide = 256, kMostSide = 1024;
  if (problem.axes.size() == 1) return {};
  std::vector<core::Bindings> fitting;
  for (int64_t side = kLeastSide; side <= kMostSide; side += kMultiple) {
    core::Bindings axes;
    for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] = into_domain(axis, side);
    if (small_enough(problem, axes, most_elements, most_flops)) fitting.push_back(std::move(axes));
  }
  if (fitting.empty()) return {};
  return {fitting[keys.below(fitting.size())]};
}

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

// The axes `large` as large as the limits allow, alike or in drawn proportions; the others small. Half the time the
// large ones are odd, so that offsets are, and half the time multiples of 64, for which a kernel may have another path.
std::optional<core::Bindings> balanced_shape(const benchsuite::Problem& problem,
                                             const std::vector<const benchsuite::Axis*>& large, int64_t most_elements,
                                             int64_t most_flops, statistics::Keys& keys) {
  core::Bindings axes = thin_shape(problem, keys);
  const auto set = [&](const benchsuite::Axis& axis, int64_t size) {
    axes[axis.name] = into_domain(axis, size % 2 == 0 && axis.values.empty() ? size - 1 : size);
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
    const int64_t odd = keys.below(4) == 0 ? 0 : 1;  // an even one may have no tail
    do {
      axes[large.name] = into_domain(large, size | odd);
      size = size * 7 / 8;
    } while (!small_enough(problem, axes, most_elements, most_flops) && size > listed);
    if (small_enough(problem, axes, most_elements, most_flops)) shapes.push_back(std::move(axes));
  }
  return shapes;
}

std::vector<core::Bindings> draw_long_and_wide_shapes(const benchsuite::Problem& problem, const std::string& backend,
                                                      int64_t most_elements, int64_t most_flops,
                                                      statistics::Keys& keys) {
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
    for (int step = 0; step < 200 && !small_enough(problem, axes, most_elements, most_flops); ++step) {
      const benchsuite::Axis& other = *others[keys.below(others.size())];
      const bool narrows = axes[other.name] > kLeastWide && keys.below(4) != 0;
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
    while (!fits(axes) && axes[large.name] > large.min) axes[large.name] = large.at_most(axes[large.name] * 7 / 8);
    if (fits(axes)) shapes.push_back(std::move(axes));
  };
  for (const benchsuite::Axis& large : problem.axes) {
    add_thin(large, large.max);
    // An end of the domain is often a multiple of all tiles, so a drawn size near it has the tail. A problem with one
    // axis has its own below.
    const int64_t most = std::min(large.max, most_elements);
    if (problem.axes.size() > 1 && is_inner(problem, large) && large.values.empty()) {
      add_thin(large, draw_between(std::max(large.min, most / 2), most, keys) | 1);
    }
  }
  std::vector<const benchsuite::Axis*> all;
  for (const benchsuite::Axis& axis : problem.axes) all.push_back(&axis);
  const auto add_balanced = [&] {
    if (const auto shape = balanced_shape(problem, all, most_elements, most_flops_of_large, keys))
      shapes.push_back(*shape);
  };
  add_balanced();
  while (all.size() > 2) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(keys.below(all.size())));
    if (all.size() == 2) add_balanced();
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
