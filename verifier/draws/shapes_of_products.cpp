#include "verifier/draws/shapes_of_products.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "verifier/draws/axis_sizes.h"
#include "verifier/draws/shapes_of_numbers.h"

namespace verifier::draws {
namespace {
struct Wanted {
  const source::Comparison* comparison;
  int64_t least, most;
};

int64_t value_at(const core::Expr& of, const core::Bindings& axes) {
  try {
    return of.eval(axes);
  } catch (const core::ExprError&) {
    return -1;
  }
}

bool meets(const Wanted& wanted, const core::Bindings& axes) {
  const int64_t value = value_at(wanted.comparison->of, axes);
  return value >= wanted.least && value <= wanted.most;
}

// The first size of the axis from its present one on at which the shape has what is wanted, told by halves where the
// expression grows with its axes.
bool grow(const benchsuite::Axis& axis, const Wanted& wanted, core::Bindings& axes) {
  constexpr int64_t kReach = 1 << 13;
  const core::Expr& of = wanted.comparison->of;
  const int64_t from = axes[axis.name];
  if (of.text().find('%') == std::string::npos) {
    int64_t less = from, enough = axis.max;
    while (less < enough) {
      const int64_t middle = less + (enough - less) / 2;
      axes[axis.name] = middle;
      if (value_at(of, axes) < wanted.least) {
        less = middle + 1;
      } else {
        enough = middle;
      }
    }
    axes[axis.name] = into_domain(axis, less);
    return meets(wanted, axes);
  }
  for (int64_t size = from; size <= std::min(axis.max, from + kReach); size += axis.multiple_of) {
    axes[axis.name] = size;
    if (meets(wanted, axes)) return true;
  }
  return false;
}

// Most of what the source asks of this axis alone, since one path may ask for that as well.
std::vector<source::Condition> asked_of(const benchsuite::Axis& axis, const source::SourceNumbers& numbers,
                                        statistics::Keys& keys) {
  std::vector<source::Condition> asked;
  std::ranges::copy_if(numbers.conditions, std::back_inserter(asked), [&](const source::Condition& one) {
    const bool leads = one.relation == source::Relation::least || one.relation == source::Relation::remainder;
    return leads && one.name == axis.name && one.number <= axis.max && keys.below(4) > 0;
  });
  return asked;
}

std::optional<core::Bindings> draw(const benchsuite::Problem& problem, const Wanted& wanted,
                                   const source::SourceNumbers& numbers, int64_t most_elements, int64_t most_flops,
                                   statistics::Keys& keys) {
  constexpr int kTries = 32;
  constexpr int64_t kMostShort = 8;
  const std::set<std::string> names = wanted.comparison->of.names();
  std::vector<const benchsuite::Axis*> growing;
  for (const benchsuite::Axis& axis : problem.axes) {
    if (names.contains(axis.name) && axis.values.empty()) growing.push_back(&axis);
  }
  if (growing.empty()) return std::nullopt;
  for (int tries = 0; tries < kTries; ++tries) {
    const benchsuite::Axis& last = *growing[keys.below(growing.size())];
    core::Bindings axes;
    for (const benchsuite::Axis& axis : problem.axes) {
      const bool is_named = names.contains(axis.name) && axis.values.empty() && &axis != &last;
      if (const auto asked = is_named ? asked_of(axis, numbers, keys) : std::vector<source::Condition>();
          !asked.empty()) {
        axes[axis.name] = size_that_meets(axis, asked, tries / 8, keys);
        continue;
      }
      const int64_t most = names.contains(axis.name) ? axis.max : std::max<int64_t>(kMostShort >> (tries / 4), 1);
      axes[axis.name] = !axis.values.empty() ? one_of(axis.values, keys)
                        : &axis == &last     ? axis.min
                                             : into_domain(axis, draw_between(1, most, keys));
    }
    if (grow(last, wanted, axes) && small_enough(problem, axes, most_elements, most_flops)) return axes;
  }
  return std::nullopt;
}
}  // namespace

std::vector<core::Bindings> draw_shapes_of_products(const benchsuite::Problem& problem,
                                                    const source::SourceNumbers& numbers, const ProductLimits& limits,
                                                    statistics::Keys& keys) {
  std::vector<Wanted> all;
  for (const source::Comparison& one : numbers.comparisons) {
    const bool of_axes = std::ranges::all_of(one.of.names(), [&](const std::string& name) {
      return std::ranges::find(problem.axes, name, &benchsuite::Axis::name) != problem.axes.end();
    });
    if (!of_axes) continue;
    all.push_back({&one, one.number, one.equals ? one.number : 2 * one.number});
    if (!one.equals && one.number > 1) all.push_back({&one, one.number / 2, one.number - 1});
  }
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[keys.below(i)]);
  // Small shapes are below most numbers, so those above come first.
  std::stable_partition(all.begin(), all.end(),
                        [](const Wanted& wanted) { return wanted.least >= wanted.comparison->number; });
  std::vector<core::Bindings> shapes;
  bool had_one = false;
  for (const Wanted& wanted : all) {
    if (shapes.size() == limits.most_shapes) break;
    if (std::ranges::any_of(shapes, [&](const core::Bindings& axes) { return meets(wanted, axes); })) continue;
    auto axes = draw(problem, wanted, numbers, limits.most_elements, limits.most_flops, keys);
    if (!axes && !had_one) {
      axes = draw(problem, wanted, numbers, limits.most_elements_of_one, limits.most_flops_of_one, keys);
      had_one = axes.has_value();
    }
    if (axes) shapes.push_back(std::move(*axes));
  }
  return shapes;
}

}  // namespace verifier::draws
