#include "verifier/draws/reach.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "core/error.h"
#include "verifier/draws/axis_sizes.h"
#include "verifier/draws/shapes.h"

namespace verifier::draws {

namespace {
// Empty where the plan cannot be bound.
std::vector<sandbox::PlannedLaunch> launches_of(const Plan& plan, const benchsuite::Problem& problem,
                                                const core::Bindings& axes) {
  try {
    return sandbox::bind_plan(plan.solution, plan.binding, axes, &problem).launches;
  } catch (const core::InputError&) {
    return {};
  }
}

int64_t blocks_of(const sandbox::PlannedLaunch& launch) { return launch.grid[0] * launch.grid[1] * launch.grid[2]; }
int64_t blocks_of(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes, size_t launch) {
  const auto launches = launches_of(plan, problem, axes);
  const auto found = std::ranges::find(launches, launch, &sandbox::PlannedLaunch::place);
  return found != launches.end() ? blocks_of(*found) : 0;  // it may be left out there
}

int64_t elements_of(const benchsuite::Problem& problem, const core::Bindings& axes) {
  int64_t elements = 0;
  for (const auto* some : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *some) elements += tensor.elements(axes);
  }
  return elements;
}

// The least size of an axis from which on a launch's grid no longer grows, up to `most`; 0 where it does there, or has
// never grown.
int64_t end_of_growth(const Plan& plan, const benchsuite::Problem& problem, core::Bindings axes,
                      const benchsuite::Axis& axis, int64_t most, size_t launch) {
  const auto blocks_at = [&](int64_t size) {
    axes[axis.name] = into_domain(axis, size);
    return blocks_of(plan, problem, axes, launch);
  };
  const int64_t all = blocks_at(most);
  if (blocks_at(axis.min) >= all || blocks_at(most / 2) < all) return 0;
  int64_t less = axis.min, enough = most / 2;
  while (enough - less > 1) {
    const int64_t middle = less + (enough - less) / 2;
    (blocks_at(middle) < all ? less : enough) = middle;
  }
  return enough;
}

// By how much an axis grows from the given shape on until a launch has more blocks; 0 where it never has.
int64_t step_of_growth(const Plan& plan, const benchsuite::Problem& problem, core::Bindings axes,
                       const benchsuite::Axis& axis, size_t launch) {
  constexpr int64_t kMostStep = 1 << 12;
  const auto blocks_at = [&](int64_t size) {
    axes[axis.name] = into_domain(axis, size);
    return blocks_of(plan, problem, axes, launch);
  };
  const int64_t at_least = blocks_at(axis.min);
  int64_t same = axis.min, more = std::min(axis.max, axis.min + kMostStep);
  if (at_least == 0 || blocks_at(more) <= at_least) return 0;
  while (more - same > 1) {
    const int64_t middle = same + (more - same) / 2;
    (blocks_at(middle) > at_least ? more : same) = middle;
  }
  return same;
}
}  // namespace

int64_t threads_of(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes) {
  int64_t threads = 0;
  for (const sandbox::PlannedLaunch& launch : launches_of(plan, problem, axes)) {
    threads += blocks_of(launch) * launch.block[0] * launch.block[1] * launch.block[2];
  }
  return threads;
}

int64_t most_blocks(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes) {
  int64_t most = 0;
  for (const sandbox::PlannedLaunch& launch : launches_of(plan, problem, axes))
    most = std::max(most, blocks_of(launch));
  return most;
}

core::Bindings within_reach(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                            int64_t most_threads, double share) {
  core::Bindings reached = axes;
  for (int step = 0; step < 64 && threads_of(plan, problem, reached) > most_threads; ++step) {
    come_nearer(problem, reached, share);
  }
  return threads_of(plan, problem, reached) < threads_of(plan, problem, axes) ? reached : axes;
}

std::optional<core::Bindings> within_memory(const benchsuite::Problem& problem, const core::Bindings& axes,
                                            int64_t most_bytes) {
  const auto bytes_at = [&](const core::Bindings& some) {
    int64_t bytes = 0;
    for (const benchsuite::Tensor& tensor : problem.inputs) bytes += tensor.bytes(some);
    for (const benchsuite::Tensor& tensor : problem.outputs) {
      bytes += 2 * tensor.bytes(some) + tensor.elements(some) * static_cast<int64_t>(sizeof(double));
    }
    return bytes;
  };
  core::Bindings reached = axes;
  while (bytes_at(reached) > most_bytes) {
    const core::Bindings before = reached;
    come_nearer(problem, reached, 0.75);
    if (reached == before) return std::nullopt;
  }
  return reached;
}

bool has_persistent_grid(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                         int64_t least_threads) {
  const int64_t threads = threads_of(plan, problem, axes);
  if (threads < least_threads) return false;
  core::Bindings half = axes;
  come_nearer(problem, half, 0.5);
  return half != axes && threads_of(plan, problem, half) == threads;
}

std::vector<core::Bindings> shapes_of_rounds(const Plan& plan, const benchsuite::Problem& problem,
                                             int64_t most_elements, int64_t most_flops, int64_t most_threads,
                                             statistics::Keys& keys) {
  constexpr int64_t kRounds = 4, kElementsOfRounds = 1 << 22;  // beyond so many elements, one round and a half
  constexpr int64_t kElementsOfMeetings = 1 << 23;  // in cooperative launches, whose accesses are all remembered
  constexpr size_t kMostOfLaunch = 2, kMost = 4;
  constexpr std::pair<int64_t, int64_t> kOthers[] = {
      {512, 4096}, {32, 128}, {512, 4096}, {1, 8}};  // sizes of the other axes
  core::Bindings least;
  for (const benchsuite::Axis& axis : problem.axes) least[axis.name] = axis.min;
  // Where the launch's blocks come round along this axis; nothing where they do not within the limits.
  const auto draw = [&](size_t launch, const benchsuite::Axis& axis,
                        const std::pair<int64_t, int64_t>& others) -> std::optional<core::Bindings> {
    core::Bindings axes = least;
    for (const benchsuite::Axis& other : problem.axes) {
      if (other.name == axis.name) continue;
      const int64_t most = greatest_up_to(other, std::max(others.second, other.min));
      axes[other.name] = draw_between(other, std::min(std::max(others.first, other.min), most), most, keys);
    }
    const auto fits = [&](int64_t size) {
      axes[axis.name] = into_domain(axis, size);
      return small_enough(problem, axes, most_elements, most_flops);
    };
    int64_t most = axis.max;
    while (most > axis.min && !fits(most)) most /= 2;
    const int64_t end = end_of_growth(plan, problem, axes, axis, most, launch);
    if (end == 0) return std::nullopt;
    const bool many = fits(kRounds * end) && elements_of(problem, axes) <= kElementsOfRounds;
    const int64_t from = many ? 2 * end + 1 : end + 1, to = std::min(many ? kRounds * end : end + end / 2 + 1, most);
    if (from > to || greatest_up_to(axis, to) < from) return std::nullopt;
    axes[axis.name] = draw_between(axis, from, to, keys);
    const int64_t rounds = (axes[axis.name] + end - 1) / end;
    if (rounds * threads_of(plan, problem, axes) > most_threads) return std::nullopt;
    return axes;
  };
  const bool meets = std::ranges::any_of(plan.solution.launches, &sandbox::Launch::cooperative);
  if (meets) most_elements = std::min(most_elements, kElementsOfMeetings);
  std::vector<core::Bindings> shapes;
  for (size_t launch = 0; launch < plan.solution.launches.size(); ++launch) {
    std::vector<core::Bindings> found;
    for (const benchsuite::Axis& axis : problem.axes) {
      std::optional<core::Bindings> axes;
      const uint64_t first = keys.below(std::size(kOthers));
      for (size_t i = 0; i < std::size(kOthers) && !axes; ++i) {
        axes = draw(launch, axis, kOthers[(first + i) % std::size(kOthers)]);
      }
      if (axes) found.push_back(std::move(*axes));
    }
    std::ranges::sort(found, {}, [&](const core::Bindings& axes) { return elements_of(problem, axes); });
    if (found.size() > kMostOfLaunch) found.resize(kMostOfLaunch);
    for (core::Bindings& axes : found) {
      if (shapes.size() < kMost && std::ranges::find(shapes, axes) == shapes.end()) shapes.push_back(std::move(axes));
    }
  }
  return shapes;
}

std::vector<core::Bindings> shapes_beyond_whole_blocks(const Plan& plan, const benchsuite::Problem& problem,
                                                       int64_t most_elements, int64_t most_flops,
                                                       statistics::Keys& keys) {
  constexpr int64_t kMostBeyond = 7, kMostShort = 64, kSizes = 4096;
  constexpr int kTries = 32;
  constexpr size_t kOfLaunch = 2;
  std::vector<core::Bindings> shapes;
  const auto draw = [&](const benchsuite::Axis& along) {
    core::Bindings axes;
    for (const benchsuite::Axis& axis : problem.axes) {
      const int64_t most = greatest_up_to(axis, std::max(axis.min, kMostShort));
      axes[axis.name] = draw_between(axis, axis.min, most, keys);
    }
    const auto fits = [&](int64_t size) {
      axes[along.name] = into_domain(along, size);
      return small_enough(problem, axes, most_elements, most_flops);
    };
    int64_t most = along.max;
    while (most > along.min && !fits(most)) most /= 2;
    axes[along.name] = draw_between(along, std::max(along.min, most / 2), most, keys);
    return axes;
  };
  for (size_t launch = 0; launch < plan.solution.launches.size(); ++launch) {
    size_t found = 0;
    for (int i = 0; i < kTries && found < kOfLaunch; ++i) {
      const benchsuite::Axis& along = problem.axes[keys.below(problem.axes.size())];
      if (!along.values.empty()) continue;
      core::Bindings axes = draw(along);
      const int64_t blocks = blocks_of(plan, problem, axes, launch), elements = largest_tensor(problem, axes);
      const int64_t of_block = blocks < 4 ? 0 : elements / (blocks - 1);
      // Where blocks have that many each, they are a power of two as a rule.
      const int64_t whole = of_block < 16 ? 0 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(of_block)));
      if (whole == 0 || (elements + whole - 1) / whole > blocks + 1 || elements / whole + 2 < blocks) continue;
      const int64_t from = axes[along.name];
      for (int64_t less = 0; less < kSizes && from - less >= along.min; ++less) {
        axes[along.name] = along.at_most(from - less);
        const int64_t beyond = largest_tensor(problem, axes) % whole;
        if (beyond == 0 || beyond > kMostBeyond || !small_enough(problem, axes, most_elements, most_flops)) continue;
        if (std::ranges::find(shapes, axes) == shapes.end()) shapes.push_back(axes);
        ++found;
        break;
      }
    }
  }
  return shapes;
}

std::vector<core::Bindings> shapes_of_grids(const Plan& plan, const benchsuite::Problem& problem, int64_t most_elements,
                                            int64_t most_flops, statistics::Keys& keys) {
  constexpr int64_t kMany = 2048, kFew = 5, kLeastOfMany = 9, kMostOther = 64;
  constexpr size_t kMost = 16;
  core::Bindings least;
  for (const benchsuite::Axis& axis : problem.axes) least[axis.name] = axis.min;
  struct Side {
    const benchsuite::Axis* axis;
    int64_t step;  // of the axis, for one more block
  };
  std::vector<core::Bindings> shapes;
  // Some blocks along the second side, as many along the first as fit or down to an eighth; whole ones or with a tail.
  const auto draw = [&](const Side& first, const Side& second, bool whole) -> std::optional<core::Bindings> {
    core::Bindings axes = least;
    const auto grow = [&](const Side& side, int64_t blocks) {
      const int64_t tail = whole ? 0 : static_cast<int64_t>(keys.below(static_cast<uint64_t>(side.step)));
      axes[side.axis->name] = into_domain(*side.axis, side.step * blocks - tail);
      return small_enough(problem, axes, most_elements, most_flops);
    };
    for (const benchsuite::Axis& other : problem.axes) {
      const int64_t most = greatest_up_to(other, std::max(other.min, kMostOther));
      if (keys.below(4) == 0) axes[other.name] = draw_between(other, other.min, most, keys);
    }
    grow(second, 2 + static_cast<int64_t>(keys.below(kFew - 1)));
    int64_t most = kMany;
    while (most >= kLeastOfMany && (first.step * most >= 2 * first.axis->max || !grow(first, most))) most /= 2;
    if (most < kLeastOfMany || !grow(first, draw_between(std::max(kLeastOfMany, most / 8), most, keys) | 1)) return {};
    return axes;
  };
  for (size_t launch = 0; launch < plan.solution.launches.size(); ++launch) {
    std::vector<Side> sides;
    for (const benchsuite::Axis& axis : problem.axes) {
      if (!axis.values.empty()) continue;
      if (const int64_t step = step_of_growth(plan, problem, least, axis, launch)) sides.push_back({&axis, step});
    }
    for (const Side& first : sides) {
      for (const Side& second : sides) {
        if (first.axis == second.axis) continue;
        for (const bool whole : {false, true}) {
          const auto axes = draw(first, second, whole);
          if (axes && std::ranges::find(shapes, *axes) == shapes.end()) shapes.push_back(*axes);
        }
      }
    }
  }
  for (size_t i = shapes.size(); i > 1; --i) std::swap(shapes[i - 1], shapes[keys.below(i)]);
  shapes.resize(std::min(shapes.size(), kMost));
  return shapes;
}

bool lends_enough(const Plan& plan, const benchsuite::Problem& problem, const core::Bindings& axes,
                  int64_t most_workspace_bytes) {
  constexpr int64_t kCopies = 4;
  int64_t tensors = 0;
  for (const auto* some : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *some) tensors += tensor.bytes(axes);
  }
  core::Bindings values = axes;
  values.insert(plan.binding.begin(), plan.binding.end());
  const int64_t most = std::min(most_workspace_bytes, sandbox::kMostWorkspaceBytes);
  return std::ranges::none_of(plan.solution.workspaces, [&](const sandbox::Workspace& workspace) {
    try {
      const int64_t bytes = workspace.bytes.eval(values);
      return bytes > most && bytes <= kCopies * tensors;
    } catch (const core::ExprError&) {
      return false;  // the plan says so when it is bound
    }
  });
}

}  // namespace verifier::draws
