#include "verifier/draws/shapes_of_numbers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "verifier/draws/axis_sizes.h"

namespace verifier::draws {
using source::Condition;
using source::Relation;

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

std::vector<core::Bindings> draw_shapes_of_numbers(const benchsuite::Problem& problem,
                                                   const source::SourceNumbers& numbers, size_t most_shapes,
                                                   int64_t most_elements, int64_t most_flops, statistics::Keys& keys) {
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
                                                        const source::SourceNumbers& numbers, size_t most_shapes,
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
      const bool compares = condition.relation != Relation::odd;
      if (compares && condition.name == axis.name && condition.number < axis.max) own.push_back(condition.number);
    }
    return own;
  };
  for (const benchsuite::Axis& axis : problem.axes) {
    for (const int64_t end : numbers.ends_of_types) add_lead(axis, end - 1);  // a count of as many is 0
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
bool holds(const Condition& condition, int64_t size) {
  switch (condition.relation) {
    case Relation::equal:
      return size == condition.number;
    case Relation::least:
      return size >= condition.number;
    case Relation::most:
      return size <= condition.number;
    case Relation::remainder:
      return size % condition.number == condition.remainder;
    case Relation::odd:
      return size % (2 * condition.number) == condition.number;
  }
  return false;
}

}  // namespace

int64_t size_that_meets(const benchsuite::Axis& axis, const std::vector<Condition>& conditions, int halved,
                        statistics::Keys& keys) {
  constexpr int64_t kReach = 1 << 14, kSpread = 512, kParts = 16, kMostSpread = 1 << 15;
  const Condition& first = conditions.front();
  for (const Condition& condition : conditions) {
    if (condition.relation != Relation::equal || !axis.contains(condition.number)) continue;
    if (&condition == &first || holds(first, condition.number)) return condition.number;
  }
  int64_t least = axis.min, most = axis.max, spread = kSpread;
  for (const Condition& condition : conditions) {
    if (condition.relation == Relation::odd)
      spread = std::max(spread, std::min(kParts * condition.number, kMostSpread));
    if (condition.number < least || condition.number > most) continue;
    if (condition.relation == Relation::least) least = condition.number;
    if (condition.relation == Relation::most) most = condition.number;
  }
  spread = std::min(spread >> halved, most - least);
  int64_t size = into_domain(axis, least + static_cast<int64_t>(keys.below(static_cast<uint64_t>(spread) + 1)));
  std::vector<Condition> met;
  for (const Relation relation : {Relation::remainder, Relation::odd}) {
    for (const Condition& condition : conditions) {
      if (condition.relation != relation) continue;
      met.push_back(condition);
      const bool steps = relation == Relation::remainder;
      const int64_t step = steps ? condition.number : 1, reach = std::max(kReach, kParts * step);
      int64_t other = size;
      if (steps) other += (condition.number + condition.remainder - size % condition.number) % condition.number;
      const auto fits = [&] {
        return axis.contains(other) &&
               std::ranges::all_of(met, [&](const Condition& one) { return holds(one, other); });
      };
      while (other <= std::min(axis.max, size + reach) && !fits()) other += step;
      if (fits()) {
        size = other;
      } else {
        met.pop_back();
      }
    }
  }
  return size;
}
std::vector<core::Bindings> draw_shapes_of_conditions(const benchsuite::Problem& problem,
                                                      const source::SourceNumbers& numbers, size_t most_shapes,
                                                      int64_t most_elements, int64_t most_flops,
                                                      statistics::Keys& keys) {
  constexpr int kTries = 16;
  constexpr size_t kMostOfAnAxis = 12;  // each may cost a search
  constexpr int64_t kMostOther = 256;
  struct Asked {
    const benchsuite::Axis* axis;
    Condition condition;
  };
  std::vector<Asked> asked;
  for (const Condition& condition : numbers.conditions) {
    const auto axis = std::ranges::find(problem.axes, condition.name, &benchsuite::Axis::name);
    if (axis != problem.axes.end()) asked.push_back({&*axis, condition});
  }
  if (std::ranges::none_of(asked, [](const Asked& one) { return one.axis->values.empty(); })) return {};
  // Each one, and two of different axes, that no shape has met. Later shapes begin with them.
  using Both = std::pair<const Asked*, const Asked*>;
  std::vector<Both> unmet;
  for (const Asked& one : asked) {
    for (const Asked& other : std::span(&one, asked.data() + asked.size())) {
      const auto leads = [](const Asked& some) {
        return some.condition.relation != Relation::most && some.condition.relation != Relation::odd &&
               some.condition.number <= some.axis->max;
      };
      if ((&one == &other || one.axis != other.axis) && leads(one) && leads(other)) unmet.emplace_back(&one, &other);
    }
  }
  std::vector<core::Bindings> shapes;
  const auto of_axis = [&](const benchsuite::Axis& axis, const Both& lead, size_t i, bool equal, bool all) {
    std::vector<Condition> own;
    std::set<int64_t, std::greater<>> parts;
    for (const Asked& one : asked) {
      if (one.axis != &axis) continue;
      const bool is_odd = one.condition.relation == Relation::odd;
      if (is_odd || (one.condition.relation == Relation::remainder && one.condition.remainder == 0))
        parts.insert(one.condition.number);
      if (is_odd || &one == lead.first || &one == lead.second || (!all && keys.below(4) == 0)) continue;
      if (one.condition.relation == Relation::equal && !equal) continue;
      Condition condition = one.condition;
      // Small sizes are mostly asked for where a kernel leaves its fast path ("if (M < 384) return slow();").
      if (condition.relation == Relation::most && (i == 0 || (i > 1 && keys.coin())))
        condition = {axis.name, Relation::least, condition.number + 1};
      own.push_back(std::move(condition));
    }
    for (size_t k = own.size(); k > 1; --k) std::swap(own[k - 1], own[keys.below(k)]);
    if (i == 0)
      std::partition(own.begin(), own.end(), [](const Condition& one) { return one.relation == Relation::equal; });
    for (const Asked* one : {lead.first, lead.second}) {
      if (one != nullptr && one->axis == &axis) own.insert(own.begin(), one->condition);
    }
    if (own.size() > kMostOfAnAxis) own.erase(own.begin() + kMostOfAnAxis, own.end());
    // An odd number of parts: of the largest in the second shape, of the next in the third, then of any or of none.
    const size_t part = i == 0 ? parts.size() : i < 3 ? i - 1 : keys.below(parts.size() + 1);
    if (part < parts.size())
      own.push_back({axis.name, Relation::odd, *std::next(parts.begin(), static_cast<std::ptrdiff_t>(part))});
    return own;
  };
  for (size_t i = 0; i < most_shapes; ++i) {
    const bool equal = i == 0 || (i > 2 && keys.coin());
    for (int tries = 0; tries < kTries; ++tries) {
      // The last shape, and those that would be too large, leave some conditions out.
      const bool all = i + 1 < most_shapes && tries < kTries - 4;
      const Both lead = i == 0 || unmet.empty() ? Both() : unmet[keys.below(unmet.size())];
      core::Bindings axes;
      for (const benchsuite::Axis& axis : problem.axes) {
        const std::vector<Condition> own = of_axis(axis, lead, i, equal, all);
        if (!axis.values.empty()) {
          const auto named = std::ranges::find_if(
              own, [&](const Condition& one) { return one.relation == Relation::equal && axis.contains(one.number); });
          axes[axis.name] = named == own.end() ? one_of(axis.values, keys) : named->number;
        } else if (own.empty()) {
          const int64_t most = std::max<int64_t>(kMostOther >> tries, 1), size = draw_between(1, most, keys);
          const int64_t round = (size + kMultiple - 1) / kMultiple * kMultiple;
          axes[axis.name] = into_domain(axis, round <= most && keys.coin() ? round : size);
        } else {
          axes[axis.name] = size_that_meets(axis, own, tries, keys);
        }
      }
      if (!small_enough(problem, axes, most_elements, most_flops)) continue;
      const auto meets = [&](const Asked* one) { return holds(one->condition, axes.at(one->axis->name)); };
      std::erase_if(unmet, [&](const Both& both) { return both == lead || (meets(both.first) && meets(both.second)); });
      if (std::ranges::find(shapes, axes) == shapes.end()) shapes.push_back(std::move(axes));
      break;
    }
  }
  return shapes;
}

std::vector<core::Bindings> draw_short_shapes_of_conditions(const benchsuite::Problem& problem,
                                                            const source::SourceNumbers& numbers, size_t most_shapes,
                                                            int64_t most_elements, int64_t most_flops,
                                                            statistics::Keys& keys) {
  constexpr int kTries = 4;
  constexpr int64_t kMostShort = 8;
  std::vector<Condition> asked;
  for (const Condition& condition : numbers.conditions) {
    const auto axis = std::ranges::find(problem.axes, condition.name, &benchsuite::Axis::name);
    if (axis == problem.axes.end() || !axis->values.empty() || condition.relation == Relation::odd) continue;
    if (condition.number <= axis->max) asked.push_back(condition);
  }
  for (size_t i = asked.size(); i > 1; --i) std::swap(asked[i - 1], asked[keys.below(i)]);
  // What holds at few sizes first: much of the rest holds there, too.
  std::ranges::stable_sort(asked, std::ranges::greater(), &Condition::number);
  std::vector<core::Bindings> shapes;
  const auto met = [&](const Condition& one) {
    return std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return holds(one, axes.at(one.name)); });
  };
  const auto draw = [&](const Condition& lead, int tries) {
    const bool bounded = keys.below(4) > 0;
    std::vector<Condition> own = {lead};
    std::ranges::copy_if(asked, std::back_inserter(own), [&](const Condition& other) {
      return other.name == lead.name && !(other == lead) && other.relation != Relation::equal && keys.coin();
    });
    core::Bindings axes;
    for (const benchsuite::Axis& axis : problem.axes) {
      if (axis.name == lead.name) axes[axis.name] = size_that_meets(axis, own, kTries, keys);
    }
    const int64_t size = axes.at(lead.name);
    for (const benchsuite::Axis& axis : problem.axes) {
      if (axis.name == lead.name) continue;
      if (!axis.values.empty()) {
        axes[axis.name] = one_of(axis.values, keys);
      } else if (bounded && bounds_values(problem, axis)) {  // as many values as elements, or twice as many
        axes[axis.name] = into_domain(axis, keys.below(4) > 0 ? size : 2 * size);
      } else {
        axes[axis.name] = into_domain(axis, draw_between(1, std::max<int64_t>(kMostShort >> tries, 1), keys));
      }
    }
    return axes;
  };
  for (const Condition& lead : asked) {
    if (shapes.size() == most_shapes) break;
    if (met(lead)) continue;
    for (int tries = 0; tries < kTries; ++tries) {
      core::Bindings axes = draw(lead, tries);
      if (!holds(lead, axes.at(lead.name)) || !small_enough(problem, axes, most_elements, most_flops)) continue;
      shapes.push_back(std::move(axes));
      break;
    }
  }
  return shapes;
}

}  // namespace verifier::draws
