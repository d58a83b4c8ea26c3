#include "verifier/draws/patches.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace verifier::draws {
namespace {
using formulas::Effect;
using formulas::FillArgs;
using formulas::Patch;

constexpr uint64_t kEffects = static_cast<uint64_t>(Effect::after_relu) + 1;

double log_uniform(double least, double most, statistics::Keys& keys) {
  return least * std::pow(most / least, keys.unit());
}
double either_sign(double size, statistics::Keys& keys) { return keys.coin() ? size : -size; }

// Begins anywhere in [0, extent) and is at most `most` long, at least 1.
std::pair<int64_t, int64_t> draw_stretch(int64_t extent, int64_t most, statistics::Keys& keys) {
  const auto length = 1 + static_cast<int64_t>(keys.below(static_cast<uint64_t>(std::max<int64_t>(most, 1))));
  const auto begin = static_cast<int64_t>(keys.below(static_cast<uint64_t>(extent - std::min(length, extent) + 1)));
  return {begin, std::min(begin + length, extent)};
}

// A single element, a row, a column, a block, every so many rows, or the last columns of all rows: an eighth of the
// tensor at most, unless it has few rows. Or whole rows alone, where there are several.
Patch draw_region(int64_t rows, int64_t columns, bool whole_rows, statistics::Keys& keys) {
  Patch patch{0, 0, rows, 1, 0, columns, 0};
  const auto some_rows = [&](int64_t most) {
    std::tie(patch.row_begin, patch.row_end) = draw_stretch(rows, most, keys);
  };
  const auto some_columns = [&](int64_t most) {
    std::tie(patch.column_begin, patch.column_end) = draw_stretch(columns, most, keys);
  };
  switch (rows == 1 ? 5 : whole_rows ? 3 * keys.below(2) : keys.below(5)) {
    case 0:
      some_rows(1);
      break;
    case 1:
      some_columns(1);
      break;
    case 2:
      some_rows(rows / 3);
      some_columns(columns / 3);
      break;
    case 3:
      patch.row_step = 8 + static_cast<int64_t>(keys.below(57));
      patch.row_begin = static_cast<int64_t>(keys.below(static_cast<uint64_t>(std::min(patch.row_step, rows))));
      break;
    case 4:
      patch.column_begin = columns - 1 - static_cast<int64_t>(keys.below(static_cast<uint64_t>(columns / 8 + 1)));
      break;
    default:
      some_columns(columns / 8);
  }
  return patch;
}

double draw_size(Effect effect, const FillArgs& args, bool between_bounds, statistics::Keys& keys) {
  switch (effect) {
    case Effect::number:
      if (between_bounds) return keys.coin() ? args.low : args.low + (args.high - args.low) * keys.unit();
      return keys.coin() ? 0 : either_sign(log_uniform(0.01, 100, keys), keys);
    case Effect::shifted:
      return either_sign(args.narrow != 0 ? log_uniform(0.5, 16, keys) : log_uniform(1, 100, keys), keys);
    case Effect::scaled:
      return args.narrow != 0 ? log_uniform(0.03, 30, keys) : log_uniform(1e-4, 1e3, keys);
    case Effect::whole:
      return keys.coin() ? 0.5 : 2;  // mostly -1, 0 and 1, or up to some more
    case Effect::exponents: {        // squares of the largest stay finite
      constexpr double kMost = 60;
      return args.narrow != 0 ? 4 : std::clamp(std::log2(args.most_size) / 2 - 4, 1.0, kMost);
    }
    case Effect::sparse:
      return log_uniform(2, 30, keys);
    default:
      return either_sign(1, keys);
  }
}

// A place in [0, extent), half of the time near an end.
int64_t draw_at_ends(int64_t extent, statistics::Keys& keys) {
  const int64_t most = keys.coin() ? extent : std::min(extent, formulas::kAtAnEnd);
  const auto place = static_cast<int64_t>(keys.below(static_cast<uint64_t>(most)));
  return keys.coin() ? place : extent - 1 - place;
}

Patch draw_place(int64_t rows, int64_t columns, statistics::Keys& keys) {
  Patch patch{static_cast<int64_t>(Effect::number), 0, 0, 1, 0, 0, 0};
  std::tie(patch.row_begin, patch.row_end) = draw_stretch(rows, 1, keys);
  patch.column_begin = draw_at_ends(columns, keys);
  patch.column_end = patch.column_begin + 1;
  return patch;
}
}  // namespace

void draw_patches(FillArgs& args, bool between_bounds, statistics::Keys keys) {
  const int64_t rows = (args.elements + args.columns - 1) / args.columns;
  const auto add = [&](const Patch& patch) { args.patches[args.patch_count++] = patch; };
  if (args.distribution == static_cast<int64_t>(Distribution::stray)) {
    Patch place = draw_place(rows, args.columns, keys);
    place.size = args.special[keys.below(4)];
    return add(place);
  }
  if (args.distribution == static_cast<int64_t>(Distribution::alike)) {
    Patch place = draw_place(rows, args.columns, keys);
    place.size = between_bounds ? args.low + (args.high - args.low) * keys.unit()
                                : args.scale * either_sign(log_uniform(0.5, 4, keys), keys);
    return add(place);
  }
  if (!between_bounds && keys.below(4) == 0)
    args.grain = args.scale * std::ldexp(1.0, -3 - static_cast<int>(keys.below(6)));
  for (auto wanted = 1 + keys.below(formulas::kMostPatches - 1); wanted > 0; --wanted) {
    const auto effect = static_cast<Effect>(keys.below(kEffects));
    Patch patch = draw_region(rows, args.columns, effect == Effect::after_relu, keys);
    patch.effect = static_cast<int64_t>(effect);
    patch.size = draw_size(effect, args, between_bounds, keys);
    // A whole row of one value or of next to nothing has no variance, which no normalisation divides by without error;
    // one of zeros has nothing to divide.
    const bool flat = (effect == Effect::number && (between_bounds || patch.size != 0)) || effect == Effect::scaled ||
                      effect == Effect::denormals;
    if (flat) patch.column_end -= patch.width() / 2;
    add(patch);
  }
  if (between_bounds || keys.below(4) == 0) return;
  Patch outlier = draw_place(rows, args.columns, keys);
  outlier.size =
      either_sign(log_uniform(1, keys.coin() ? std::min(1000.0, args.most_size) : args.most_size, keys), keys);
  add(outlier);
}

}  // namespace verifier::draws
