#include "verifier/draws/shapes_of_bands.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "verifier/draws/axis_sizes.h"

namespace verifier::draws {
namespace {
// One dimension of a launch's grid, longer along some axes.
struct Side {
  const core::Expr* extent;
  std::vector<const benchsuite::Axis*> axes;
};

// Of a grid at a shape: 0 where it cannot be computed.
int64_t blocks_along(const core::Expr& extent, const Plan& plan, const core::Bindings& axes) {
  core::Bindings values = axes;
  values.insert(plan.binding.begin(), plan.binding.end());
  try {
    return extent.eval(values);
  } catch (const core::ExprError&) {
    return 0;
  }
}

class Bands {
 public:
  Bands(const Plan& plan, const benchsuite::Problem& problem, statistics::Keys& keys)
      : plan_(plan), problem_(problem), keys_(keys) {
    for (const benchsuite::Axis& axis : problem.axes) least_[axis.name] = axis.min;
  }

  // Each two sides that can be long at once, the one with many blocks first.
  std::vector<std::pair<Side, Side>> pairs() const {
    std::vector<std::pair<Side, Side>> found;
    for (const sandbox::Launch& launch : plan_.solution.launches) {
      std::vector<Side> sides;
      for (const core::Expr& extent : launch.grid) {
        Side side{&extent, {}};
        const std::set<std::string> names = extent.names();
        for (const benchsuite::Axis& axis : problem_.axes) {
          if (names.contains(axis.name) && axis.values.empty()) side.axes.push_back(&axis);
        }
        if (!side.axes.empty()) sides.push_back(std::move(side));
      }
      add_pairs(sides, found);
    }
    // Orders that go by bands mostly join the first two dimensions.
    std::stable_partition(found.begin(), found.end(), [&](const auto& pair) {
      return std::ranges::none_of(plan_.solution.launches, [&](const sandbox::Launch& launch) {
        return pair.first.extent == &launch.grid[2] || pair.second.extent == &launch.grid[2];
      });
    });
    return found;
  }

  // Few blocks along the second side; along the first an odd number beyond `band`.
  std::optional<core::Bindings> draw(const Side& first, const Side& second, int64_t band, int64_t most_elements,
                                     int64_t most_flops) {
    constexpr int kTries = 12;
    constexpr int64_t kMostOther = 64;
    for (int tries = 0; tries < kTries; ++tries) {
      core::Bindings axes = least_;
      for (const benchsuite::Axis& other : problem_.axes) {
        const int64_t most = greatest_up_to(other, std::max(other.min, kMostOther >> tries));
        if (keys_.below(4) == 0) axes[other.name] = draw_between(other, other.min, most, keys_);
      }
      const auto few = 2 + static_cast<int64_t>(keys_.below(4 - std::min(tries / 3, 3)));
      const bool beside = second.extent == first.extent;  // blocks of one dimension: as many times as many
      if (!reach(second, beside ? few * blocks(first, axes, second) : few, axes)) continue;
      const int64_t so_far = beside ? blocks(first, axes, first) : 1;
      if (!reach(first, so_far * (band + 1 + static_cast<int64_t>(keys_.below(std::max<int64_t>(band / 4, 4)))), axes))
        continue;
      const int64_t along = blocks_along(*first.extent, plan_, axes) / so_far;
      if ((along % 2 == 0 && tries + 4 < kTries) || along % band == 0) continue;
      if (small_enough(problem_, axes, most_elements, most_flops)) return axes;
    }
    return std::nullopt;
  }

 private:
  static void add_pairs(const std::vector<Side>& sides, std::vector<std::pair<Side, Side>>& found) {
    for (const Side& first : sides) {
      for (const Side& second : sides) {
        if (first.extent != second.extent) found.emplace_back(first, second);
      }
    }
    if (sides.size() != 1) return;
    for (const benchsuite::Axis* one : sides[0].axes) {
      for (const benchsuite::Axis* other : sides[0].axes) {
        if (one != other) found.push_back({{sides[0].extent, {one}}, {sides[0].extent, {other}}});
      }
    }
  }

  // Along a side whose own axes are as short as they may be.
  int64_t blocks(const Side& side, core::Bindings axes, const Side& without) const {
    for (const benchsuite::Axis* axis : without.axes) axes[axis->name] = axis->min;
    return std::max<int64_t>(blocks_along(*side.extent, plan_, axes), 1);
  }

  // Makes the side's axes longer, in any order, until it has so many blocks.
  bool reach(const Side& side, int64_t wanted, core::Bindings& axes) {
    std::vector<const benchsuite::Axis*> order = side.axes;
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[keys_.below(i)]);
    for (const benchsuite::Axis* axis : order) axes[axis->name] = axis->min;
    for (const benchsuite::Axis* axis : order) {
      const auto at = [&](int64_t size) {
        axes[axis->name] = into_domain(*axis, size);
        return blocks_along(*side.extent, plan_, axes);
      };
      int64_t less = axis->min, enough = axis->max;
      if (at(less) >= wanted) return true;
      if (at(enough) < wanted) {  // the next axis does the rest
        at(draw_between(*axis, std::max(axis->min, axis->max / 2), axis->max, keys_));
        continue;
      }
      while (enough - less > 1) {
        const int64_t middle = less + (enough - less) / 2;
        (at(middle) < wanted ? less : enough) = middle;
      }
      at(enough);
      return true;
    }
    return false;
  }

  const Plan& plan_;
  const benchsuite::Problem& problem_;
  statistics::Keys& keys_;
  core::Bindings least_;
};
}  // namespace

std::vector<core::Bindings> draw_shapes_of_bands(const Plan& plan, const benchsuite::Problem& problem,
                                                 const source::SourceNumbers& numbers, const BandLimits& limits,
                                                 statistics::Keys& keys) {
  constexpr int64_t kMostBand = 1024, kLeastBand = 4;
  constexpr size_t kMost = 8, kMostBands = 24;
  constexpr int kMostLarge = 2;
  if (!numbers.renumbers_blocks) return {};
  std::vector<int64_t> bands;
  for (const auto* some : {&numbers.decisive, &numbers.others}) {
    std::ranges::copy_if(*some, std::back_inserter(bands),
                         [](int64_t number) { return number >= kLeastBand && number <= kMostBand; });
  }
  std::ranges::sort(bands, std::greater());
  bands.erase(std::unique(bands.begin(), bands.end()), bands.end());
  Bands of(plan, problem, keys);
  std::vector<core::Bindings> shapes;
  int large = 0;
  for (const auto& [first, second] : of.pairs()) {
    for (size_t i = 0; i < bands.size() && i < kMostBands && shapes.size() < kMost; ++i) {
      auto axes = of.draw(first, second, bands[i], limits.most_elements, limits.most_flops);
      const bool ends = axes.has_value();
      if (!axes && large < kMostLarge) {
        axes = of.draw(first, second, bands[i], limits.most_elements_of_large, limits.most_flops_of_large);
        large += axes.has_value();
      }
      if (axes && std::ranges::find(shapes, *axes) == shapes.end()) shapes.push_back(std::move(*axes));
      if (ends) break;
    }
  }
  return shapes;
}

}  // namespace verifier::draws
