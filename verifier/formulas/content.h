// The content of inputs, element by element. Magnitudes are chosen such that honest kernels stay finite: with up to
// some thousand terms, sums of squares fit into f32, and f16 inputs are kept so small that products of two of them fit
// into f16 outputs. Formats of 8 bits end sooner still: what a draw puts beyond their largest number is that number.
// Patches alone go further.
#pragma once

#include "verifier/formulas/simple.h"

namespace verifier::formulas {

// Some eight elements of a row.
HOST_DEVICE bool is_one_of_few(const FillArgs& args, const Chance& c) {
  return below(static_cast<uint64_t>(args.columns), c.second, 0) < 8;
}
// One element in 64 is a spike or not finite.
HOST_DEVICE bool is_rare(const Chance& c) { return c.second < 1u << 26; }
HOST_DEVICE double rare_value(const FillArgs& args, uint32_t kind, const Chance& c) {
  if (kind == 0) return args.special[(c.second & 1) != 0 ? 3 : 0];  // NaNs of both signs
  if (kind < 3) return args.special[kind];
  const bool infinities = (args.key >> 61 & 1) != 0;  // of both signs and no NaN, which their sum is
  return args.special[infinities ? 1 + below(2, c.second << 6, 0) : below(4, c.second << 6, 0)];
}

// Steps of 1 in an exact draw. Products of two such numbers are multiples of 2^-10, so f32 holds sums below 2^14, which
// is six times what seven million of them come to; of 2^-6 beyond, for sums below 2^18.
HOST_DEVICE double exact_steps(const FillArgs& args) { return args.columns > (int64_t{1} << 22) ? 8 : 32; }
constexpr int64_t kMostExact = 32;

// The hot element of an exact_products draw. The two highest bits of the key say which: with half of the significand's
// bits (0, 1), with all of them (2), or a power of two (3).
HOST_DEVICE double exact_factor(const FillArgs& args, const Chance& c) {
  const uint64_t kind = args.key >> 62;
  const double sign = (c.second & 1) == 0 ? 1 : -1;
  if (kind == 3) return sign * exp2(static_cast<double>(below(7, c.first, 0)) - 3);
  const int64_t most = args.significand <= 11 || kind == 2 ? args.significand : args.significand / 2;
  const int64_t bits = most < 32 ? most : 32;
  return sign * static_cast<double>(2 * below(static_cast<uint64_t>(1) << (bits - 1), c.first, 0) + 1);
}

// The highest bit but one of the key, which all inputs of a draw share, says whether a one_scale draw is small, and a
// moderate one flat. Narrow inputs are not large.
HOST_DEVICE bool has_second_kind(const FillArgs& args) { return (args.key >> 62 & 1) != 0; }
HOST_DEVICE bool is_large(const FillArgs& args) { return args.narrow == 0 && !has_second_kind(args); }
HOST_DEVICE double small_factor(const FillArgs& args) {
  const uint32_t chance = static_cast<uint32_t>(args.key);
  const uint64_t less = args.narrow != 0 ? 1 + below(4, chance, 0) : 8 + below(13, chance, 0);
  return ldexp(1.0, -static_cast<int>(less));
}
HOST_DEVICE double moderate_factor(const FillArgs& args) {
  const double chance = unit_of(static_cast<uint32_t>(args.key));
  return has_second_kind(args) ? exp2(0.25 - 2.5 * chance) : exp2(-0.5 - 5 * chance);
}

// All inputs of a tiny draw are tiny where the two highest bits of the key are 0.
HOST_DEVICE int tiny_exponent(const FillArgs& args) {
  const uint32_t chance = static_cast<uint32_t>(args.key);
  if (args.narrow != 0) return -4 - static_cast<int>(below(9, chance, 0));
  return -20 - static_cast<int>(below((args.key >> 62) == 0 ? 36 : 91, chance, 0));
}

// Formats of few bits hold nothing of an ordinary number beside a large offset. That of f16 ends at 1024, where the
// kind is odd and the offset one input's alone; otherwise products of two must fit.
HOST_DEVICE bool is_far_offset(uint64_t key) { return (key >> 62) % 2 == 1; }
HOST_DEVICE double offset_of(const FillArgs& args) {
  if (args.narrow != 0) {
    if (args.significand != 11 || !is_far_offset(args.key)) return 8;
    const double size = 64 * exp2(static_cast<double>(below(1 << 20, static_cast<uint32_t>(args.key), 0)) * 0x1p-18);
    return (args.key >> 32 & 1) != 0 ? size : -size;
  }
  if (args.significand < 24) return 100;
  const double size = 100 * exp2(static_cast<double>(below(1 << 20, static_cast<uint32_t>(args.key), 0)) * 0x1.3eep-17);
  return (args.key >> 32 & 1) != 0 ? size : -size;
}

// Does an element need its second number? One of a dtype of 64 bits always does.
HOST_DEVICE bool asks_second(Distribution distribution) {
  return distribution == Distribution::spikes || distribution == Distribution::exact_products ||
         distribution == Distribution::non_finite || distribution == Distribution::few;
}

// Like the output of a ReLU: no number below 0, and zeros of both signs. They are equal, but -0 has the largest bits of
// all, and only a row without negative numbers shows that to a kernel that treats such rows in another way.
HOST_DEVICE double after_relu(double value, const Chance& c) {
  return value > 0 ? value : (c.first & 1) != 0 ? -0.0 : 0.0;
}
// Does the domain of a bounded input have numbers on both sides of 0?
HOST_DEVICE bool has_both_signs(const FillArgs& args) { return args.low < 0 && args.high > 0; }

// An element of an input that is N(0, scale) as a rule.
HOST_DEVICE double unbounded(const FillArgs& args, const Row& row, int64_t column, const Chance& c) {
  const bool hot = is_hot(args, row, column);
  const bool narrow = args.narrow != 0;
  const double value = args.scale * c.normal;
  const uint64_t third = below(3, c.first, 0);
  switch (static_cast<Distribution>(args.distribution)) {
    case Distribution::row_scales:
      return row.scale * value;
    case Distribution::offset:
      return offset_of(args) + value;
    case Distribution::spikes:
      return is_rare(c) ? value * (narrow ? 30 : 1000) : value;
    case Distribution::one_hot:
      return hot ? 1 : 0;
    case Distribution::ties:
      if (third == 0) return row.after_relu ? after_relu(0, c) : -0.5;
      return third == 1 ? 0.25 : 1.5;
    case Distribution::denormals:
      return args.least_normal * 4 * (c.unit - 0.5);
    case Distribution::one_scale:
      return is_large(args) ? c.normal * 1e15 : value * small_factor(args);
    case Distribution::moderate:
      return (has_second_kind(args) ? args.scale * (2 * c.unit - 1) : value) * moderate_factor(args);
    case Distribution::tiny:
      return ldexp(value, tiny_exponent(args));
    case Distribution::exact:
      return rint(c.normal * exact_steps(args)) / exact_steps(args);
    case Distribution::exact_products:
      return hot ? exact_factor(args, c) : 0;
    case Distribution::non_finite:
      return is_rare(c) ? rare_value(args, row.kind, c) : value;
    case Distribution::patchwork:
      return args.grain > 0 ? rint(value / args.grain) * args.grain : value;
    case Distribution::dominant: {
      if (!hot) return value;
      const bool below_zero = row.size != 0 ? row.size < 0 : value < 0;
      const double size = (fabs(value) + args.scale) * (narrow ? 0x1p10 : 0x1p46);
      return below_zero ? -size : size;  // far beyond what the others add up to, be they millions
    }
    case Distribution::few:
      return hot || is_one_of_few(args, c) ? 40 + 2 * c.normal : 0;
    case Distribution::extremes:
      if (row.scale != 0) return row.scale * (1 + c.normal / 8);
      return hot ? row.size * (1 + c.unit) : value;
    case Distribution::regular: {  // between -2 and 2 times the scale, and exceptions beyond
      const double size = (narrow ? 8 : 32) * (c.unit < 0.5 ? -1 - c.unit : 0.5 + c.unit);
      const double within = 4 * regular(args, row, column, size / 4 + 0.5) - 2;
      return args.key >> 62 == static_cast<uint64_t>(Regular::identity) ? within : args.scale * within;
    }
    case Distribution::far_elements:
      return value / 4 - (hot ? 0 : args.scale * row.scale);
    case Distribution::far_rows:
      return value / 8 - args.scale * row.scale;
    case Distribution::simple:
      return simple(args, row, false, value, column, c);
    default:
      return value;
  }
}

// About the largest number of the dtype below the upper bound.
HOST_DEVICE double below_high(const FillArgs& args) {
  const double width = args.high - args.low, size = fmax(width, fabs(args.high));
  return args.high - ldexp(size, -static_cast<int>(args.significand));
}
// An element of an input that is U[low, high): the same ideas between the bounds.
HOST_DEVICE double bounded(const FillArgs& args, const Row& row, int64_t column, const Chance& c) {
  const bool hot = is_hot(args, row, column);
  const double width = args.high - args.low, value = args.low + width * c.unit;
  // Small numbers lie near 0 where the bounds allow it, else just above the lower bound. Near -a, all elements of
  // U[-a, a) would be almost equal, and the sums of a product with them would cancel.
  const auto shrunk = [&](double factor) {
    return has_both_signs(args) ? value * factor : args.low + width * c.unit * factor;
  };
  switch (static_cast<Distribution>(args.distribution)) {
    case Distribution::row_scales:
      return args.low + width * c.unit * fmin(row.scale, 1.0);
    case Distribution::one_scale:
      return is_large(args) ? value : shrunk(small_factor(args));
    case Distribution::moderate:
      return shrunk(fmin(moderate_factor(args), 1.0));
    case Distribution::tiny:
      return shrunk(ldexp(1.0, tiny_exponent(args)));
    case Distribution::offset:
      return args.high - width * (1 - c.unit) / 128;
    case Distribution::spikes:
      return args.low + width * c.unit * (is_rare(c) ? 1 : 1e-3);
    case Distribution::one_hot:
      return args.low + (hot ? width * 0.75 : 0);
    case Distribution::ties: {
      const double fourth = floor(c.unit * 4);
      const double tied = fourth < 3 ? args.low + width * fourth / 4 : below_high(args);
      return row.after_relu && has_both_signs(args) ? after_relu(tied, c) : tied;
    }
    case Distribution::denormals:
      return args.low > 0 || args.high <= 0 ? value : args.least_normal * 2 * c.unit;
    case Distribution::exact:
    case Distribution::exact_products:
      return fmax(floor(value * exact_steps(args)), ceil(args.low * exact_steps(args))) / exact_steps(args);
    case Distribution::non_finite:
      return is_rare(c) ? rare_value(args, row.kind, c) : value;
    case Distribution::regular:
      return args.low + width * regular(args, row, column, c.unit);
    case Distribution::far_rows:
      return has_both_signs(args) ? args.high * row.size * (1 - c.unit / 16) : value;
    case Distribution::simple:
      return simple(args, row, true, value, column, c);
    default:
      return value;
  }
}

// The values of a draw with few: by index.
HOST_DEVICE int64_t one_of_few(const FillArgs& args, uint64_t index) {
  const Quad few = drawn_for(Purpose::few, 0, args.key), more = drawn_for(Purpose::more_of_few, 0, args.key);
  return any_integer(args, component(few, static_cast<int64_t>(index)), component(more, static_cast<int64_t>(index)));
}
// At least one element of a regular draw is an exception, however few there are.
HOST_DEVICE bool is_exception(const FillArgs& args, int64_t index, uint32_t second) {
  const Quad drawn = drawn_for(Purpose::regular, 0, args.key);
  const bool drawn_place =
      static_cast<uint64_t>(index) == below(static_cast<uint64_t>(args.elements), drawn.x, drawn.y);
  return drawn_place || second < 1u << 22;
}
// The one value of a draw. For half of the keys an end of the range: sums reach furthest there. Or both ends in turn,
// by halves of the rows or of the tensor, so that a sum that has come far comes back; then what is off a little counts.
HOST_DEVICE int64_t the_one_value(const FillArgs& args, int64_t index, bool is_off) {
  const uint32_t kind = static_cast<uint32_t>(args.key) / 8 % 8;
  if (is_off ? kind < 2 || kind > 3 : kind > 3) return one_of_few(args, is_off);
  if (kind < 2) return kind == 0 ? args.least : args.most;
  const auto column = static_cast<uint32_t>(index) % static_cast<uint32_t>(args.columns);
  const bool second_half = kind == 2 ? 2 * column >= args.columns : 2 * index >= args.elements;
  const int64_t most = args.most - is_off;
  return clamped(second_half ? (args.least < 0 ? -most : args.least + is_off) : most, args.least, args.most);
}
// One row in four of a patchwork draw takes its numbers from a window of the range. Returns the window's size, or 0 for
// the other rows.
HOST_DEVICE int64_t window_of_row(const FillArgs& args, int64_t row) {
  const Quad drawn = drawn_for(Purpose::row, row, args.key);
  const uint64_t count = static_cast<uint64_t>(args.most) - static_cast<uint64_t>(args.least) + 1;
  const int64_t window = int64_t{2} << below(14, drawn.y, 0);
  return drawn.x % 4 != 0 || (count != 0 && static_cast<uint64_t>(window) >= count) ? 0 : window;
}
HOST_DEVICE int64_t in_window(const FillArgs& args, int64_t row, int64_t window, uint32_t first, uint32_t second) {
  const Quad drawn = drawn_for(Purpose::row, row, args.key);
  const int64_t last = args.most - window + 1,
                place = static_cast<int64_t>(below(static_cast<uint64_t>(window), first, second));
  const uint32_t where = drawn.x / 4 % 4, bits = 8 + drawn.x / 16 % 17;
  const bool has_steps = (static_cast<uint64_t>(args.most) - static_cast<uint64_t>(args.least)) >> bits > 0;
  if (drawn.x / 64 % 2 == 0 && has_steps) {  // numbers that are equal in their lowest bits
    return args.least + static_cast<int64_t>(below(2, first, second)) * (int64_t{1} << bits);
  }
  if (where == 0) return args.least + place;
  if (where == 1) return last + place;
  if (where == 2 && args.least < 0 && last > 0) return place;  // from 0 on
  const uint64_t begins = static_cast<uint64_t>(last) - static_cast<uint64_t>(args.least) + 1;
  return static_cast<int64_t>(static_cast<uint64_t>(args.least) + below(begins, drawn.z, drawn.w)) + place;
}
// May an element of a one_value draw be an exception? By the kind of the key: none, those of either half, or all. A
// counter that is too narrow overflows only along a stretch that has none.
HOST_DEVICE bool may_be_off(const FillArgs& args, int64_t index) {
  const uint64_t kind = args.key >> 62;
  return kind == 3 || (kind != 0 && (2 * index < args.elements) == (kind == 1));
}
HOST_DEVICE int64_t integer(const FillArgs& args, int64_t index, uint32_t first, uint32_t second) {
  switch (static_cast<Distribution>(args.distribution)) {
    case Distribution::one_value:
      return the_one_value(args, index, may_be_off(args, index) && second < 1u << 26);
    case Distribution::regular:
      return the_one_value(args, index, is_exception(args, index, second));
    case Distribution::ties: {  // the ends of the range, and one between them
      const uint64_t which = below(3, first, 0);
      return which == 0 ? args.least : which == 1 ? args.most : one_of_few(args, 2);
    }
    case Distribution::exact:
    case Distribution::exact_products:
      return clamped(static_cast<int64_t>(below(2 * kMostExact + 1, first, 0)) - kMostExact, args.least, args.most);
    case Distribution::simple:
      return simple_integer(args, index, first, second);
    case Distribution::patchwork: {
      if (const int64_t window = window_of_row(args, index / args.columns); window > 0) {
        return in_window(args, index / args.columns, window, first, second);
      }
      const int64_t value = any_integer(args, first, second);  // some meet the ends of chunks, whatever their length
      if (second % 4 != 0) return value;
      const int64_t unit = int64_t{1} << (1 + below(14, second << 2, 0));
      return clamped(value & -unit, args.least, args.most);
    }
    default:
      return any_integer(args, first, second);
  }
}

// How far the rows of an ordered draw rise, in units of its scale: 4, or, half the time, a power of two up to 1024, so
// that a maximum that is kept along a row is exceeded again and again by little. Sums of products must fit into f16.
HOST_DEVICE double rise_of(const FillArgs& args) {
  if ((args.key >> 61 & 1) == 0) return 4;
  const uint64_t most = args.significand >= 24 ? 8 : args.significand == 8 ? 4 : 0;
  return static_cast<double>(4 << below(most + 1, static_cast<uint32_t>(args.key >> 8), 0));
}

// Element `value` of a named draw. Its key and its row say whether the row lies about the number, beyond or below it,
// whether all but one lie so far below, or whether some have its size. In rows of the first kind, and
// between bounds, one element in 16 is the number itself, half of the time with the row's sign.
HOST_DEVICE double about_number(const FillArgs& args, const Row& row, bool between_bounds, double value, int64_t column,
                                const Chance& c) {
  if (between_bounds) {
    const bool has_it = args.number > args.low && args.number < args.high && (c.second & 1) != 0;
    if (has_it && c.second % 16 == 1) return args.number;
    return has_it ? fmax(args.low, args.number - (args.high - args.low) * c.unit / 64) : value;
  }
  const double size = fabs(row.size);
  switch (row.kind) {
    case 0:
      if (c.second % 16 == 0) return (c.second & 16) == 0 ? row.size : args.number;
      return row.size + value * (1 + size / args.scale / 64);
    case 1:
      return row.size * (1 + row.scale * c.unit);
    case 2:
      return column == row.hot ? value : value / 64 - size * row.scale;
    default:
      return column == row.hot || is_rare(c) ? row.size * (0.5 + c.unit) : value;
  }
}

// Does the patch ask for the row that an element lies in?
HOST_DEVICE bool needs_row(const Patch& patch) { return patch.effect >= static_cast<int64_t>(Effect::in_order); }
// Element `value` of a floating tensor under a patch that covers its column.
HOST_DEVICE double patched(const FillArgs& args, const Patch& patch, const Row& row, bool between_bounds, double value,
                           int64_t column, const Chance& c) {
  const double low = args.low, width = args.high - args.low;
  const double along = (static_cast<double>(column) + 0.5) / static_cast<double>(args.columns);  // (0, 1)
  const double rising = patch.size < 0 ? 1 - along : along;
  const double third = static_cast<double>(below(3, c.first, 0));
  switch (static_cast<Effect>(patch.effect)) {
    case Effect::number:
      return patch.size;
    case Effect::shifted:
      return between_bounds ? args.high - width * (1 - c.unit) / 128 : value + patch.size;
    case Effect::scaled:
      return between_bounds ? low + (value - low) * fmin(fabs(patch.size), 1.0) : value * patch.size;
    case Effect::ties:
      return between_bounds ? low + width * third / 4 : third - 0.5;
    case Effect::whole:
      return between_bounds ? low + width * floor((value - low) / width * 16) / 16
                            : rint(fabs(patch.size) * value / args.scale);
    case Effect::sorted:
      return between_bounds ? low + width * rising : 4 * rising - 2;
    case Effect::denormals:
      if (between_bounds && (low > 0 || args.high <= 0)) return value;
      return args.least_normal * 2 * (between_bounds ? c.unit : 2 * c.unit - 1);
    case Effect::exponents:
      return between_bounds ? value : ldexp(value, static_cast<int>(floor((2 * c.unit - 1) * patch.size)));
    case Effect::sparse:
      if (is_one_of_few(args, c)) return value;
      return between_bounds ? low + (value - low) / 1024 : value - patch.size;
    case Effect::after_relu:
      return between_bounds && !has_both_signs(args) ? value : after_relu(value, c);
    case Effect::in_order: {
      const double place = ordered(args, row, column, c.unit);
      const double own =
          between_bounds ? low + width * place : args.scale * rise_of(args) * (place - 0.375);  // no sum is 0
      return row.after_relu && (!between_bounds || has_both_signs(args)) ? after_relu(own, c) : own;
    }
    case Effect::about_number:
      return about_number(args, row, between_bounds, value, column, c);
  }
  return value;
}
// The same for integers, which are one value or sorted under other patches.
HOST_DEVICE int64_t patched_integer(const FillArgs& args, const Patch& patch, const Row& row, int64_t column,
                                    const Chance& c) {
  const auto effect = static_cast<Effect>(patch.effect);
  const double least = static_cast<double>(args.least), width = static_cast<double>(args.most) - least;
  if (effect == Effect::in_order) {
    const double place = ordered(args, row, column, c.unit);
    return clamped(static_cast<int64_t>(floor(least + (width + 1) * place)), args.least, args.most);
  }
  if (effect == Effect::about_number) {
    constexpr double kMost = 0x1p53;
    const bool has_it = fabs(args.number) < kMost && args.number >= least && args.number <= least + width;
    const bool all = (args.key >> 61 & 1) != 0;
    if (!has_it || !(all || c.second % 4 == 0)) return any_integer(args, c.first, c.second);
    // The number or a multiple, or one more or less than they.
    const auto number = static_cast<int64_t>(args.number);
    const uint32_t way = c.second / 4 % 8;
    if (way < 3 || number <= 0) return clamped(number - 1 + static_cast<int64_t>(way % 3), args.least, args.most);
    const int64_t times = 1 + static_cast<int64_t>(below(static_cast<uint64_t>(args.most / number), c.first, 0));
    return clamped(number * times + (way == 3) - (way == 4), args.least, args.most);
  }
  if (effect != Effect::sorted) return the_one_value(args, 0, false);
  const double along = (static_cast<double>(column) + 0.5) / static_cast<double>(args.columns);
  return clamped(static_cast<int64_t>(least + width * (patch.size < 0 ? 1 - along : along)), args.least, args.most);
}

// The element of patch `p` with this number (0 to Patch::elements): its flat index, or -1 where the tensor ends before
// it or a later patch covers it, so that the content does not depend on the order of elements.
HOST_DEVICE int64_t patched_index(const FillArgs& args, int64_t p, int64_t number) {
  const Patch& patch = args.patches[p];
  const int64_t row = patch.row_begin + number / patch.width() * patch.row_step;
  const int64_t column = patch.column_begin + number % patch.width();
  for (int64_t later = p + 1; later < args.patch_count; ++later) {
    if (args.patches[later].covers(row, column)) return -1;
  }
  const int64_t index = row * args.columns + column;
  return index < args.elements ? index : -1;
}

}  // namespace verifier::formulas
