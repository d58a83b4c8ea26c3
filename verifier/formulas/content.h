// The content of inputs, element by element. Magnitudes are chosen such that honest kernels stay finite: with up to
// some thousand terms, sums of squares fit into f32, and f16 inputs are kept so small that products of two of them fit
// into f16 outputs. Formats of 8 bits end sooner still: what a draw puts beyond their largest number is that number.
// Patches alone go further.
#pragma once

#include <math.h>
#include <cstdint>

#include "verifier/formulas/philox.h"

namespace verifier::formulas {

// How an input is drawn. What an init bounds (uniform, integers) stays within its bounds in every distribution; where a
// distribution means nothing for an input, that input is drawn as usual.
enum class Distribution : int64_t {
  ordinary,        // as the problem's init says
  row_scales,      // ordinary, each row scaled by a log-uniform factor in [1e-3, 1e3]; f16: [0.03, 31]
  offset,          // 100 + ordinary; f16: 8 + ordinary
  spikes,          // ordinary, one element in 64 a thousand times as large; f16: thirty times
  one_hot,         // one element of each row is 1, the others 0
  ties,            // three distinct values only
  denormals,       // about the least normal number of the dtype
  one_scale,       // ordinary, all scaled by one factor: 1e15, or 2^-8 to 2^-20; f16: 2^-1 to 2^-4
  exact,           // N(0,1) in steps of 1/32, dense, whose sums of products f32 holds: the exact battery
  exact_products,  // one number with all its bits in each row, the others 0; the other input has powers of two there
  one_value,       // one value everywhere, or but for one element in 64; integers only
  non_finite,      // ordinary, one element in 64 NaN or infinite: each row of one of kNonFiniteKinds
  patchwork,       // ordinary, with a few patches of other content at drawn places
  stray,           // ordinary, with one NaN or infinity at a drawn place
  dominant,        // ordinary, one element of each row beside which all others are nothing in a sum
  few,             // zeros, but for some eight elements of each row, near 40: they alone count, in a softmax too
  extremes,        // each row far from zero, or with an outlier and perhaps another at its end: at FillArgs::extreme
  regular,         // what invites a short cut (see Regular), with exceptions that a sample of elements hardly meets
};

// The change that a patch makes to the elements that it covers.
enum class Effect : int64_t {
  number,     // all are `size`
  shifted,    // plus `size`; between bounds: close to the upper one
  scaled,     // times `size`
  ties,       // three distinct values only
  whole,      // rounded to whole numbers; between bounds: to multiples of 1/16 of the width
  sorted,     // rising or falling along the row, as the sign of `size` says
  denormals,  // about the least normal number
  sparse,     // `size` lower, but for some eight elements of a row
};

// Rows row_begin, row_begin + row_step, ... below row_end, each from column_begin to before column_end.
struct Patch {
  int64_t effect;
  int64_t row_begin, row_end, row_step;
  int64_t column_begin, column_end;
  double size;

  HOST_DEVICE int64_t width() const { return column_end - column_begin; }
  HOST_DEVICE int64_t elements() const { return (row_end - row_begin + row_step - 1) / row_step * width(); }
  HOST_DEVICE bool covers(int64_t row, int64_t column) const {
    return row >= row_begin && row < row_end && (row - row_begin) % row_step == 0 && column >= column_begin &&
           column < column_end;
  }
};
constexpr int64_t kMostPatches = 3;

// One draw of one tensor. All fields are 8 bytes wide: it is a kernel's argument.
struct FillArgs {
  int64_t dtype, kind, distribution;  // core::DType, benchsuite::Init, Distribution
  int64_t elements, columns;
  double scale, low, high;  // of benchsuite::InputInit
  int64_t least, most;      // the same, at the shape at hand
  uint64_t key;
  int64_t narrow;       // is the dtype f16, or one of 8 bits?
  int64_t significand;  // its bits, the hidden one included
  double least_normal;  // of the dtype
  double largest;       // number of a dtype of 8 bits; 0: of another
  double special[4];    // NaN, inf, -inf, and a NaN with its sign set
  int64_t matrix_rows;  // of a triangular input
  double most_size;     // of outliers
  double extreme;       // the one size of a draw of extremes: much larger rows would hide the others
  double grain;         // of patchwork: content is a multiple of it; 0: of nothing
  int64_t patch_count;
  Patch patches[kMostPatches];
};

HOST_DEVICE double within_dtype(const FillArgs& args, double value) {
  const bool beyond = args.largest > 0 && isfinite(value) && fabs(value) > args.largest;
  return beyond ? copysign(args.largest, value) : value;
}

// The purposes that numbers are drawn for have counters of their own.
enum class Purpose : uint32_t { value_of_quad, more_of_quad, row, few, more_of_few, patch, regular };

HOST_DEVICE Quad drawn_for(Purpose purpose, int64_t index, uint64_t key) {
  return philox({static_cast<uint32_t>(index), static_cast<uint32_t>(static_cast<uint64_t>(index) >> 32),
                 static_cast<uint32_t>(purpose), 0},
                key);
}

// One element's share of chance.
struct Chance {
  double normal, unit;     // N(0,1), U[0,1)
  uint32_t first, second;  // `unit` comes from the first
};
// A double gets its lower bits from the second number.
HOST_DEVICE Chance chance_of(bool wide, float normal, uint32_t first, uint32_t second) {
  const double from_float = static_cast<double>(normal), unit = unit_of(first);
  if (!wide) return {from_float, unit, first, second};
  return {from_float * (1 + second * 0x1p-56), unit + second * 0x1p-64, first, second};
}

// The kinds of a regular draw. The two highest bits of its key choose one; rare elements are exceptions to it.
enum class Regular : uint32_t {
  constant_rows,  // each row is one number, and has one exception
  equal_rows,     // all rows are the same; here and below, one row in sixteen has an exception
  identity,       // ones on the diagonal, zeros elsewhere
  symmetric,      // its own transpose
};

// Numbers that all elements of one row share.
struct Row {
  int64_t hot;  // the one that is not 0 in a one_hot or exact_products draw, dominates a dominant one, or is an outlier
  double scale;   // of a row_scales draw; of extremes, what all elements are near to, or 0
  double size;    // of the outliers of extremes, or 0; of a dominant draw, sign_at_the_end
  bool hot_end;   // is the last element one, too?
  uint32_t kind;  // which non-finite values it gets: NaN, inf, -inf, or all of them or both infinities
  int64_t index;
};
HOST_DEVICE bool draws_rows(const FillArgs& args) {
  switch (static_cast<Distribution>(args.distribution)) {
    case Distribution::row_scales:
    case Distribution::one_hot:
    case Distribution::exact_products:
    case Distribution::non_finite:
    case Distribution::dominant:
    case Distribution::few:
    case Distribution::extremes:
    case Distribution::regular:
      return true;
    default:
      return false;
  }
}
// In the last two rows of a dominant draw the last element is the hot one: above zero in the last row, below in the
// other, so that a kernel that leaves out a tail misses a sum, a maximum and a minimum.
HOST_DEVICE int64_t sign_at_the_end(const FillArgs& args, int64_t row) {
  if (args.distribution != static_cast<int64_t>(Distribution::dominant)) return 0;
  if ((row + 1) * args.columns >= args.elements) return 1;
  return (row + 2) * args.columns >= args.elements ? -1 : 0;
}
// Anywhere, at the beginning, or at the end, where vectors and tails are.
constexpr int64_t kAtAnEnd = 16;
HOST_DEVICE int64_t drawn_column(const FillArgs& args, int64_t row, const Quad& drawn) {
  const int64_t columns = args.columns;
  if (sign_at_the_end(args, row) != 0) return columns - 1;
  const uint64_t where = below(4, drawn.z, 0);
  const int64_t most = where < 2 || columns < kAtAnEnd ? columns : kAtAnEnd;
  const auto column = static_cast<int64_t>(below(static_cast<uint64_t>(most), drawn.x, drawn.w));
  return where == 3 ? columns - 1 - column : column;
}
HOST_DEVICE Row draw_row(const FillArgs& args, int64_t index) {
  const Quad drawn = drawn_for(Purpose::row, index, args.key);
  const float octaves = (args.narrow != 0 ? 3 : 6) * 3.32192809f;  // 3 or 6 decades
  Row row = {drawn_column(args, index, drawn),
             1,
             0,
             false,
             static_cast<uint32_t>((args.key >> 62) + static_cast<uint64_t>(index)) % 4,
             index};
  if (args.distribution == static_cast<int64_t>(Distribution::row_scales)) {
    row.scale = static_cast<double>(exp2f(octaves * (static_cast<float>(drawn.y) * 0x1p-32f - 0.5f)));
  } else if (args.distribution == static_cast<int64_t>(Distribution::extremes)) {
    // The last row ends in an outlier. Outliers are mostly above zero, and whole rows below: maxima miss those.
    const bool last = (index + 1) * args.columns >= args.elements, far = !last && (drawn.y & 1) != 0;
    const double signed_size = ((drawn.y & 6) == 0) == far ? args.extreme : -args.extreme;
    row.scale = far ? signed_size : 0;
    row.size = far ? 0 : signed_size;
    row.hot_end = last || (drawn.y & 8) != 0;
  } else {
    row.size = static_cast<double>(sign_at_the_end(args, index));
  }
  return row;
}
// Numbers of a regular draw, from 0 to 1: of a row, a column or a pair of places.
HOST_DEVICE double regular_unit(const FillArgs& args, int64_t index) {
  return unit_of(drawn_for(Purpose::regular, index, args.key).x);
}
HOST_DEVICE bool has_exception(const FillArgs& args, const Row& row) {
  const Quad drawn = drawn_for(Purpose::regular, -1 - row.index, args.key);
  const bool last = (row.index + 1) * args.columns >= args.elements;  // at least one has
  return args.key >> 62 == static_cast<uint64_t>(Regular::constant_rows) || last || below(16, drawn.y, 0) == 0;
}
// In [0, 1], where ordinary content lies in `unit`.
HOST_DEVICE double regular(const FillArgs& args, const Row& row, int64_t column, double unit) {
  if (column == row.hot && has_exception(args, row)) return unit;
  const int64_t across = row.index % args.columns;  // the column of the same number, in square matrices
  switch (static_cast<Regular>(args.key >> 62)) {
    case Regular::constant_rows:
      return regular_unit(args, row.index);
    case Regular::equal_rows:
      return regular_unit(args, column);
    case Regular::identity:
      return column == across ? 0.75 : 0.5;
    default:
      return regular_unit(args, across < column ? across * args.columns + column : column * args.columns + across);
  }
}

HOST_DEVICE bool is_hot(const FillArgs& args, const Row& row, int64_t column) {
  return column == row.hot || (row.hot_end && column == args.columns - 1);
}

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

constexpr double kExactSteps = 32;  // of 1: a thousand products of two such numbers add up exactly in f32
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

// A one_scale draw is large or small by bit 62 of the key, which all its inputs share. Narrow inputs are always small.
HOST_DEVICE bool is_large(const FillArgs& args) { return args.narrow == 0 && (args.key >> 62) % 2 == 0; }
HOST_DEVICE int small_exponent(const FillArgs& args) {
  const uint32_t chance = static_cast<uint32_t>(args.key);
  return args.narrow != 0 ? -1 - static_cast<int>(below(4, chance, 0)) : -8 - static_cast<int>(below(13, chance, 0));
}

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
      return (narrow ? 8 : 100) + value;
    case Distribution::spikes:
      return is_rare(c) ? value * (narrow ? 30 : 1000) : value;
    case Distribution::one_hot:
      return hot ? 1 : 0;
    case Distribution::ties:
      return third == 0 ? -0.5 : third == 1 ? 0.25 : 1.5;
    case Distribution::denormals:
      return args.least_normal * 4 * (c.unit - 0.5);
    case Distribution::one_scale:
      return is_large(args) ? c.normal * 1e15 : ldexp(value, small_exponent(args));
    case Distribution::exact:
      return rint(c.normal * kExactSteps) / kExactSteps;
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
    default:
      return value;
  }
}

// An element of an input that is U[low, high): the same ideas between the bounds.
HOST_DEVICE double bounded(const FillArgs& args, const Row& row, int64_t column, const Chance& c) {
  const bool hot = is_hot(args, row, column);
  const double width = args.high - args.low, value = args.low + width * c.unit;
  switch (static_cast<Distribution>(args.distribution)) {
    case Distribution::row_scales:
      return args.low + width * c.unit * fmin(row.scale, 1.0);
    case Distribution::one_scale:
      return is_large(args) ? value : args.low + ldexp(width * c.unit, small_exponent(args));
    case Distribution::offset:
      return args.high - width * (1 - c.unit) / 128;
    case Distribution::spikes:
      return args.low + width * c.unit * (is_rare(c) ? 1 : 1e-3);
    case Distribution::one_hot:
      return args.low + (hot ? width * 0.75 : 0);
    case Distribution::ties:
      return args.low + width * floor(c.unit * 3) / 4;
    case Distribution::denormals:
      return args.low > 0 || args.high <= 0 ? value : args.least_normal * 2 * c.unit;
    case Distribution::exact:
    case Distribution::exact_products:
      return fmax(floor(value * kExactSteps), ceil(args.low * kExactSteps)) / kExactSteps;
    case Distribution::non_finite:
      return is_rare(c) ? rare_value(args, row.kind, c) : value;
    case Distribution::regular:
      return args.low + width * regular(args, row, column, c.unit);
    default:
      return value;
  }
}

HOST_DEVICE int64_t clamped(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : value > most ? most : value;
}
HOST_DEVICE int64_t any_integer(const FillArgs& args, uint32_t high, uint32_t low) {
  const uint64_t least = static_cast<uint64_t>(args.least), count = static_cast<uint64_t>(args.most) - least + 1;
  return static_cast<int64_t>(least + below(count, high, low));
}
// The three values of a draw with few: by index.
HOST_DEVICE int64_t one_of_few(const FillArgs& args, uint64_t index) {
  const Quad few = drawn_for(Purpose::few, 0, args.key), more = drawn_for(Purpose::more_of_few, 0, args.key);
  return any_integer(args, component(few, static_cast<int64_t>(index)), component(more, static_cast<int64_t>(index)));
}
HOST_DEVICE int64_t integer(const FillArgs& args, uint32_t first, uint32_t second) {
  switch (static_cast<Distribution>(args.distribution)) {
    case Distribution::one_value:
      return (args.key >> 62) != 0 && second < 1u << 26 ? one_of_few(args, 1) : one_of_few(args, 0);
    case Distribution::regular:
      return second < 1u << 22 ? one_of_few(args, 1) : one_of_few(args, 0);
    case Distribution::ties:
      return one_of_few(args, below(3, first, 0));
    case Distribution::exact:
    case Distribution::exact_products:
      return clamped(static_cast<int64_t>(below(2 * kMostExact + 1, first, 0)) - kMostExact, args.least, args.most);
    default:
      return any_integer(args, first, second);
  }
}

// Element `value` of a floating tensor under a patch that covers its column.
HOST_DEVICE double patched(const FillArgs& args, const Patch& patch, bool between_bounds, double value, int64_t column,
                           const Chance& c) {
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
      return between_bounds ? low + width * floor((value - low) / width * 16) / 16 : rint(2 * value);
    case Effect::sorted:
      return between_bounds ? low + width * rising : 4 * rising - 2;
    case Effect::denormals:
      if (between_bounds && (low > 0 || args.high <= 0)) return value;
      return args.least_normal * 2 * (between_bounds ? c.unit : 2 * c.unit - 1);
    case Effect::sparse:
      if (is_one_of_few(args, c)) return value;
      return between_bounds ? low + (value - low) / 1024 : value - patch.size;
  }
  return value;
}
// The same for integers, which are one value or sorted under a patch.
HOST_DEVICE int64_t patched_integer(const FillArgs& args, const Patch& patch, int64_t column) {
  if (patch.effect != static_cast<int64_t>(Effect::sorted)) return one_of_few(args, 0);
  const double along = (static_cast<double>(column) + 0.5) / static_cast<double>(args.columns);
  const double width = static_cast<double>(args.most) - static_cast<double>(args.least);
  return clamped(static_cast<int64_t>(static_cast<double>(args.least) + width * (patch.size < 0 ? 1 - along : along)),
                 args.least, args.most);
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
