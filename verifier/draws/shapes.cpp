#include "verifier/draws/shapes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "verifier/draws/axis_sizes.h"

namespace verifier::draws {
namespace {
constexpr int64_t kAwkward[] = {1,   2,   3,   7,   13,  31,  32,  33,   61,   63,   64,   65,   97,   127,  128,
                                129, 251, 255, 257, 509, 513, 769, 1021, 1025, 2047, 2049, 4093, 8191, 16381};

constexpr int kSquares = 8;         // one square for so many residues
constexpr int kTriesOfAReach = 4;   // before a residue's shape has fewer tiles
constexpr int64_t kForOneTile = 4;  // times the operations that a residue's shape may have otherwise
constexpr int64_t kBeyond =
    4;  // times the largest listed: what a kernel with a block for each row can still do in time

using Draw = std::function<core::Bindings()>;

// Half the time an awkward value, half the time any small one; any of a list.
int64_t draw_awkward(const benchsuite::Axis& axis, statistics::Keys& keys) {
  if (!axis.values.empty()) return one_of(axis.values, keys);
  return into_domain(
      axis, keys.coin() ? kAwkward[keys.below(std::size(kAwkward))] : 1 + static_cast<int64_t>(keys.below(700)));
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

std::vector<core::Bindings> draw_residue_shapes(const benchsuite::Problem& problem, const Residues& wanted,
                                                statistics::Keys& keys) {
  const int count = wanted.count;
  int64_t rounds = count;  // so that lists are gone through, too
  for (const benchsuite::Axis& axis : problem.axes) {
    rounds = std::max(rounds, std::min<int64_t>(static_cast<int64_t>(axis.values.size()), 2 * count));
  }
  std::map<std::string, std::vector<int64_t>> residues;  // of a list its values, again and again
  for (const benchsuite::Axis& axis : problem.axes) {
    std::vector<int64_t>& all = residues[axis.name];
    for (int64_t i = 0; i < rounds; ++i) {
      const int64_t next = axis.values.empty() ? i % count : axis.values[static_cast<size_t>(i) % axis.values.size()];
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(keys.below(all.size() + 1)), next);
    }
  }
  std::vector<core::Bindings> shapes;
  const auto add = [&](core::Bindings axes, int64_t times = 1) {
    if (!small_enough(problem, axes, wanted.most_elements, times * wanted.most_flops)) return false;
    shapes.push_back(std::move(axes));
    return true;
  };
  for (int64_t i = 0; i < rounds; ++i) {
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
        // An outer axis is mostly short, and no axis leaves its domain, where it would lose its residue.
        const bool inner = is_inner(problem, axis);
        const int64_t most =
            std::min(inner || most_multiples == 0 ? most_multiples : static_cast<int64_t>(keys.below(16)) - 12,
                     (axis.max - residue) / count);
        const int64_t multiples = most > 0 ? draw_between(1, most, keys) : residue == 0 ? 1 : 0;
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
// A size of whole tiles, as a kernel may assume: a timed one, or a few times a power of two or of ten.
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

std::vector<core::Bindings> draw_shapes_of_two_whole_axes(const benchsuite::Problem& problem, int64_t most_elements,
                                                          int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kLeastTail = 5, kMostTail = 40;
  constexpr size_t kMostShapes = 32;
  std::vector<core::Bindings> shapes;
  for (size_t one = 0; one < problem.axes.size(); ++one) {
    for (size_t other = one + 1; other < problem.axes.size(); ++other) {
      for (const benchsuite::Axis& tail : problem.axes) {
        if (&tail == &problem.axes[one] || &tail == &problem.axes[other] || !tail.values.empty()) continue;
        core::Bindings axes;
        for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] = into_domain(axis, axis.min);
        for (const size_t whole : {one, other}) {
          axes[problem.axes[whole].name] = into_domain(problem.axes[whole], kMultiple << keys.below(2));
        }
        axes[tail.name] = draw_between(tail, kLeastTail, kMostTail, keys);
        if (small_enough(problem, axes, most_elements, most_flops)) shapes.push_back(std::move(axes));
      }
    }
  }
  while (shapes.size() > kMostShapes) {
    shapes.erase(shapes.begin() + static_cast<std::ptrdiff_t>(keys.below(shapes.size())));
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

std::vector<core::Bindings> draw_shapes_of_long_rows(const benchsuite::Problem& problem, int64_t most_elements,
                                                     int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kLeastLong = 8192, kMostLong = 16384;
  constexpr uint64_t kMostShort = 4;
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Axis& large : problem.axes) {
    if (!is_inner(problem, large) || !large.values.empty()) continue;
    core::Bindings axes;
    for (const benchsuite::Axis& axis : problem.axes) {
      axes[axis.name] = into_domain(axis, axis.min + static_cast<int64_t>(keys.below(kMostShort)));
    }
    axes[large.name] = into_domain(large, draw_between(kLeastLong, kMostLong, keys));
    if (small_enough(problem, axes, most_elements, most_flops)) shapes.push_back(std::move(axes));
  }
  return shapes;
}

std::vector<core::Bindings> draw_shapes_of_long_counts(const benchsuite::Problem& problem, int64_t most_elements,
                                                       int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kLeastLong = 1024, kMostLong = 2048, kLeastHalved = 256, kLeastOfCounts = 4;
  constexpr uint64_t kOthers = 2, kMoreOfCounts = 4;
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Tensor& counts : problem.inputs) {
    if (counts.init.kind != benchsuite::Init::integers) continue;
    for (const benchsuite::Axis& large : problem.axes) {
      const bool reaches = counts.init.most.names().contains(large.name);
      if (!reaches || is_inner(problem, large) || !large.values.empty()) continue;
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) {
        const bool is_of_counts = std::ranges::any_of(
            counts.shape, [&](const core::Expr& extent) { return extent.names().contains(axis.name); });
        const auto more = static_cast<int64_t>(keys.below(is_of_counts ? kMoreOfCounts : kOthers));
        axes[axis.name] = into_domain(axis, axis.min + more + (is_of_counts ? kLeastOfCounts : 0));
      }
      for (int64_t size = draw_between(kLeastLong, kMostLong, keys); size >= kLeastHalved; size /= 2) {
        axes[large.name] = into_domain(large, size);
        if (!small_enough(problem, axes, most_elements, most_flops)) continue;
        shapes.push_back(std::move(axes));
        break;
      }
    }
  }
  return shapes;
}

std::vector<core::Bindings> draw_shapes_of_even_segments(const benchsuite::Problem& problem, int64_t most_elements,
                                                         int64_t most_flops, statistics::Keys& keys) {
  struct Lengths {
    int64_t least_segments, most_segments, least_half, most_half;  // a length is twice a half and one
  };
  constexpr Lengths kLong{3, 7, 16, 48}, kShort{24, 40, 2, 6};
  constexpr uint64_t kOthers = 4;
  std::vector<core::Bindings> shapes;
  for (const benchsuite::Tensor& ends : problem.inputs) {
    if (ends.init.kind != benchsuite::Init::sorted || core::is_floating(ends.dtype) || ends.shape.size() != 1) continue;
    for (const Lengths& lengths : {kLong, kShort}) {
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) {
        axes[axis.name] = into_domain(axis, axis.min + static_cast<int64_t>(keys.below(kOthers)));
      }
      for (const benchsuite::Axis& axis : problem.axes) {
        if (ends.shape[0].names().contains(axis.name)) {
          axes[axis.name] = draw_between(axis, lengths.least_segments, lengths.most_segments, keys);
        }
      }
      const int64_t segments = std::max<int64_t>(ends.shape[0].eval(axes) - 1, 1);
      const int64_t length = 2 * draw_between(lengths.least_half, lengths.most_half, keys) + 1;
      for (const benchsuite::Axis& axis : problem.axes) {
        if (ends.init.most.names().contains(axis.name)) axes[axis.name] = into_domain(axis, segments * length);
      }
      if (small_enough(problem, axes, most_elements, most_flops)) shapes.push_back(std::move(axes));
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

}  // namespace verifier::draws
