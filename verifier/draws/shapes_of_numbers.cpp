#include "verifier/draws/shapes_of_numbers.h"

#include <algorithm>

#include "verifier/draws/axis_sizes.h"

namespace verifier::draws {
namespace {
constexpr size_t kWays = 6;

int64_t near(int64_t number, size_t way, statistics::Keys& keys) {
  constexpr uint64_t kMostTimes = 4, kLittle = 64;
  const int64_t multiple = number * (1 + static_cast<int64_t>(keys.below(kMostTimes)));
  switch (way) {
    case 0:
      return number;
    case 1:
      return multiple - 1;
    case 2:
      return multiple + 1;
    case 3:
      return multiple;
    case 4:
      return multiple + 1 + static_cast<int64_t>(keys.below(std::min<uint64_t>(kLittle, number)));
    default:
      return draw_between(number, 2 * number, keys);
  }
}
}  // namespace

std::vector<core::Bindings> draw_shapes_of_numbers(const benchsuite::Problem& problem, const SourceNumbers& numbers,
                                                   size_t most_shapes, int64_t most_elements, int64_t most_flops,
                                                   statistics::Keys& keys) {
  constexpr int kTries = 10;
  constexpr int64_t kMostShort = 512;
  std::vector<core::Bindings> shapes;
  const auto draw = [&](const benchsuite::Axis& of, int64_t number, size_t way, int64_t most_short) {
    core::Bindings axes;
    const bool several = keys.below(4) == 0;
    for (const benchsuite::Axis& axis : problem.axes) {
      const bool named = axis.name == of.name || (several && keys.coin());
      axes[axis.name] = !axis.values.empty() ? one_of(axis.values, keys)
                        : named              ? into_domain(axis, near(number, way, keys))
                                             : into_domain(axis, draw_between(1, most_short, keys));
    }
    return axes;
  };
  const auto add = [&](const std::vector<int64_t>& some, size_t most) {
    const size_t first_way = keys.below(kWays);
    for (size_t turn = 0; turn < kWays; ++turn) {
      for (const int64_t number : some) {
        for (const benchsuite::Axis& axis : problem.axes) {
          if (!axis.values.empty() || number > axis.max) continue;
          for (int i = 0; i < kTries; ++i) {  // the others shorter each time
            core::Bindings axes = draw(axis, number, (first_way + turn) % kWays, std::max<int64_t>(kMostShort >> i, 1));
            if (!small_enough(problem, axes, most_elements, most_flops)) continue;
            if (std::ranges::find(shapes, axes) == shapes.end()) shapes.push_back(std::move(axes));
            break;
          }
          if (shapes.size() >= most) return;
        }
      }
    }
  };
  add(numbers.decisive, most_shapes * 3 / 4);
  add(numbers.others, most_shapes);
  return shapes;
}

std::vector<core::Bindings> draw_wide_shapes_of_numbers(const benchsuite::Problem& problem,
                                                        const SourceNumbers& numbers, size_t most_shapes,
                                                        int64_t most_elements, int64_t most_flops,
                                                        statistics::Keys& keys) {
  constexpr int kTries = 24, kTriesToBeWide = 8;
  constexpr int64_t kMostOther = 256;
  struct Lead {
    const benchsuite::Axis* axis;
    int64_t least, most;
  };
  std::vector<Lead> leads;
  const auto add_lead = [&](const benchsuite::Axis& axis, int64_t number) {
    if (axis.values.empty() && number < axis.max) leads.push_back({&axis, number + 1, std::min(2 * number, axis.max)});
  };
  const auto compared_with = [&](const benchsuite::Axis& axis) {
    std::vector<int64_t> own;
    for (const Condition& condition : numbers.conditions) {
      if (condition.name == axis.name && condition.number < axis.max) own.push_back(condition.number);
    }
    return own;
  };
  for (const benchsuite::Axis& axis : problem.axes) {
    for (const int64_t end : numbers.ends_of_types) add_lead(axis, end);
    for (const int64_t number : compared_with(axis)) add_lead(axis, number);
  }
  if (leads.empty()) {
    for (const benchsuite::Axis& axis : problem.axes) {
      for (const int64_t number : numbers.decisive) add_lead(axis, number);
    }
  }
  for (size_t i = leads.size(); i > 1; --i) std::swap(leads[i - 1], leads[keys.below(i)]);
  const auto other = [&](const benchsuite::Axis& axis, int64_t most, bool thin) {
    if (!axis.values.empty()) return one_of(axis.values, keys);
    std::vector<int64_t> own = compared_with(axis);
    if (own.empty() && thin) return into_domain(axis, axis.min);
    if (own.empty() && keys.below(3) == 0) own = numbers.decisive;
    if (!own.empty() && keys.below(8) != 0) {
      constexpr size_t kMultiples = 3;
      constexpr int64_t kMostVector = 64;  // for whole ones a kernel has a path of its own
      const int64_t number = one_of(own, keys);
      return into_domain(
          axis, near(number, number <= kMostVector && keys.below(4) != 0 ? kMultiples : 2 + keys.below(4), keys));
    }
    const int64_t size = draw_between(1, most, keys);
    return into_domain(axis, keys.coin() ? (size + 7) / 8 * 8 : size);
  };
  std::vector<core::Bindings> shapes;
  for (size_t i = 0; i < most_shapes && !leads.empty(); ++i) {
    const Lead& lead = leads[i % leads.size()];
    for (int tries = 0; tries < kTries; ++tries) {
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) {
        axes[axis.name] = &axis == lead.axis
                              ? into_domain(axis, draw_between(lead.least, lead.most, keys))
                              : other(axis, std::max<int64_t>(kMostOther >> tries, 1), tries > kTriesToBeWide);
      }
      if (!small_enough(problem, axes, most_elements, most_flops)) continue;
      shapes.push_back(std::move(axes));
      break;
    }
  }
  return shapes;
}

namespace {
bool holds(const Condition& remainder, int64_t size) { return size % remainder.number == remainder.remainder; }

// A size of the axis that meets as many conditions as possible, earlier ones first, and mostly an equality. It begins
// up to `spread` beyond the least such size.
int64_t size_that_meets(const benchsuite::Axis& axis, const std::vector<Condition>& conditions, int64_t spread,
                        statistics::Keys& keys) {
  constexpr int64_t kReach = 1 << 14;
  const auto equal = std::ranges::find_if(conditions, [&](const Condition& condition) {
    return condition.relation == Relation::equal && axis.contains(condition.number);
  });
  if (equal != conditions.end() && keys.below(4) != 0) return equal->number;
  int64_t least = axis.min, most = axis.max;
  for (const Condition& condition : conditions) {
    if (condition.number < least || condition.number > most) continue;
    if (condition.relation == Relation::least) least = condition.number;
    if (condition.relation == Relation::most) most = condition.number;
  }
  spread = std::min(spread, most - least);
  int64_t size = into_domain(axis, least + static_cast<int64_t>(keys.below(static_cast<uint64_t>(spread) + 1)));
  std::vector<Condition> met;
  for (const Condition& condition : conditions) {
    if (condition.relation != Relation::remainder) continue;
    met.push_back(condition);
    int64_t other = size;
    const auto fits = [&] {
      return axis.contains(other) && std::ranges::all_of(met, [&](const Condition& one) { return holds(one, other); });
    };
    while (other <= std::min(axis.max, size + kReach) && !fits()) ++other;
    if (fits()) {
      size = other;
    } else {
      met.pop_back();
    }
  }
  return size;
}
}  // namespace

std::vector<core::Bindings> draw_shapes_of_conditions(const benchsuite::Problem& problem, const SourceNumbers& numbers,
                                                      size_t most_shapes, int64_t most_elements, int64_t most_flops,
                                                      statistics::Keys& keys) {
  constexpr int kTries = 16;
  constexpr size_t kMostOfAnAxis = 12;  // each may cost a search
  constexpr int64_t kMostOther = 256, kMostSpread = 512;
  const auto of_axis = [&](const benchsuite::Axis& axis, auto&& wanted, auto&& turned) {
    std::vector<Condition> own;
    for (Condition condition : numbers.conditions) {
      if (condition.name != axis.name || !wanted()) continue;
      if (condition.relation == Relation::most && turned())
        condition = {axis.name, Relation::least, condition.number + 1};
      own.push_back(std::move(condition));
    }
    for (size_t i = own.size(); i > 1; --i) std::swap(own[i - 1], own[keys.below(i)]);
    if (own.size() > kMostOfAnAxis) own.erase(own.begin() + kMostOfAnAxis, own.end());
    return own;
  };
  const bool any = std::ranges::any_of(problem.axes, [&](const benchsuite::Axis& axis) {
    return axis.values.empty() && std::ranges::any_of(numbers.conditions, [&](const Condition& condition) {
             return condition.name == axis.name;
           });
  });
  std::vector<core::Bindings> shapes;
  for (size_t i = 0; i < most_shapes && any; ++i) {
    for (int tries = 0; tries < kTries; ++tries) {
      // The first shapes meet all conditions at once; others, and those that would be too large, leave some out. Small
      // sizes are mostly asked for where a kernel leaves its fast path ("if (M < 384) return slow();").
      const auto wanted = [&] { return (i < 2 && tries < kTries - 4) || keys.below(4) != 0; };
      const auto turned = [&] { return i == 0 || (i > 1 && keys.coin()); };
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) {
        const std::vector<Condition> own = of_axis(axis, wanted, turned);
        if (!axis.values.empty()) {
          const auto named = std::ranges::find_if(
              own, [&](const Condition& one) { return one.relation == Relation::equal && axis.contains(one.number); });
          axes[axis.name] = named == own.end() ? one_of(axis.values, keys) : named->number;
        } else if (own.empty()) {
          const int64_t most = std::max<int64_t>(kMostOther >> tries, 1), size = draw_between(1, most, keys);
          const int64_t round = (size + kMultiple - 1) / kMultiple * kMultiple;
          axes[axis.name] = into_domain(axis, round <= most && keys.coin() ? round : size);
        } else {
          axes[axis.name] = size_that_meets(axis, own, kMostSpread >> tries, keys);
        }
      }
      if (!small_enough(problem, axes, most_elements, most_flops)) continue;
      if (std::ranges::find(shapes, axes) == shapes.end()) shapes.push_back(std::move(axes));
      break;
    }
  }
  return shapes;
}

}  // namespace verifier::draws
