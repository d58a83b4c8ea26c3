// Numbers that the elements of a row of an input share, and regular content, whose rows and columns repeat.
#pragma once

#include "verifier/formulas/draw.h"

namespace verifier::formulas {

// The kinds of a regular draw. The two highest bits of its key choose one; rare elements are exceptions to it.
enum class Regular : uint32_t {
  constant_rows,  // each row is one number, and has one exception
  equal_rows,     // all rows are the same; here and below, a drawn row and one in 64 has an exception
  identity,       // ones on the diagonal, zeros elsewhere
  symmetric,      // its own transpose
};

// The order of a row of an ordered draw. Half of the rows have an exception.
enum class Order : uint32_t {
  rising,
  falling,
  pipe,      // rising, then falling: the largest are in the middle
  valley,    // falling, then rising
  killer,    // the medians of first, middle and last halve nothing: Musser, Introspective Sorting and Selection
  periodic,  // the same again after a drawn number of columns
  rotated,   // rising, but for where it begins
  mirrored,  // the same from both ends
  woven,     // few rising rows, an element of each in turn, one above the other: what sorts with gaps sees none of it
};
constexpr uint32_t kOrders = 9;
constexpr int64_t kLongestPeriod = 1024;

// Numbers that all elements of one row share.
struct Row {
  int64_t hot;  // the one that is not 0 in a one_hot or exact_products draw, dominates a dominant one, or is an outlier
  // Of a row_scales draw; of extremes, what all elements are near to, or 0; of a named draw, see about_number; of
  // far elements or rows, how far below the highest; of
  // an ordered one its period, the place where it begins, or how many are woven, below 0 where the first is the
  // highest.
  double scale;
  // Of the outliers of extremes, or 0; of a dominant draw, sign_at_the_end; of a named one, the number; of far rows,
  // the share of the upper bound.
  double size;
  bool hot_end;   // is the last element one, too? Of an ordered draw: has it an exception?
  uint32_t kind;  // which non-finite values it gets: NaN, inf, -inf, or all of them or both infinities; of a named
                  // draw, see about_number; an Order
  int64_t index;
  bool after_relu = false;  // of a draw of ties, or an ordered one: see after_relu() in content.h
};
HOST_DEVICE bool draws_rows(const FillArgs& args) {
  switch (static_cast<Distribution>(args.distribution)) {
    case Distribution::row_scales:
    case Distribution::one_hot:
    case Distribution::ties:
    case Distribution::exact_products:
    case Distribution::non_finite:
    case Distribution::dominant:
    case Distribution::few:
    case Distribution::extremes:
    case Distribution::regular:
    case Distribution::far_elements:
    case Distribution::far_rows:
    case Distribution::simple:
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
// A distance is written in the base of the exponential that it goes to: as it is, or times ln 2 or log2(e).
HOST_DEVICE double in_another_base(uint32_t drawn) {
  const double beyond = 1 + static_cast<double>(drawn >> 8) * 0x1p-24 / 8;
  return beyond * (drawn % 4 == 0 ? 0.6931471805599453 : drawn % 4 == 1 ? 1.4426950408889634 : 1);
}
// A row of far_rows. One in up to half of FillArgs::extent is high, since only thousands of exponentials beside one
// count where they are small. The score of a row of k and one of q, a sum over all columns divided by their number's
// root, lies 2 to 12.5 lower than that of a high one. The distance is that of a row of q, or of a stretch of them: a
// tile of rows may be left out as a whole.
HOST_DEVICE void draw_far_row(const FillArgs& args, const Quad& drawn, Row& row) {
  const Quad few = drawn_for(Purpose::few, 0, args.key);
  const double most = fmin(fmax(static_cast<double>(args.rows_of_a_sum / 2), 32.0), 0x1p14), unit = unit_of(few.x);
  const bool high = unit_of(drawn.x) * most * exp2(log2(32 / most) * unit * unit) < 1;
  row.scale = high ? 0 : 6.25 / sqrt(static_cast<double>(args.columns));
  const int64_t stretch = int64_t{1} << 4 * below(4, few.y, 0);
  const double own = unit_of(drawn_for(Purpose::regular, row.index / stretch, args.key).x);
  row.size = 1 - 0.84 * own * own;  // with a liking for far
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
  } else if (args.distribution == static_cast<int64_t>(Distribution::far_elements)) {
    // The longer a row, the smaller are the terms that count together.
    row.scale = 2 + fmax(10.0, log2(static_cast<double>(args.columns)) * 0.7 + 3) * unit_of(drawn.y);
  } else if (args.distribution == static_cast<int64_t>(Distribution::far_rows)) {
    draw_far_row(args, drawn, row);
  } else if (args.distribution == static_cast<int64_t>(Distribution::ties)) {
    row.after_relu = row.kind == 0;
  } else {
    row.size = static_cast<double>(sign_at_the_end(args, index));
  }
  return row;
}
// The row of an ordered or a named draw.
HOST_DEVICE Row draw_row_of_patch(const FillArgs& args, int64_t index) {
  const Quad drawn = drawn_for(Purpose::row, index, args.key);
  Row row = {drawn_column(args, index, drawn), 1, 0, false, 0, index};
  const auto turn = static_cast<uint32_t>(args.key >> 62), number = static_cast<uint32_t>(index);
  if (args.distribution == static_cast<int64_t>(Distribution::ordered)) {
    row.hot_end = (drawn.y & 1) != 0;
    row.after_relu = (turn + number) % 4 == 0;
    row.kind = (2 * turn + number + static_cast<uint32_t>(args.key >> 59) % 4) % kOrders;
    const bool is_periodic = row.kind == static_cast<uint32_t>(Order::periodic);
    const int64_t longest = args.columns / 2 < kLongestPeriod ? args.columns / 2 + 1 : kLongestPeriod;
    const auto place = below(static_cast<uint64_t>(is_periodic ? longest : args.columns), drawn.w, drawn.z);
    row.scale = static_cast<double>(place + (is_periodic ? 1 : 0));
    if (row.kind == static_cast<uint32_t>(Order::woven)) {
      const uint64_t most = uint64_t{4} << (drawn.y >> 2) % 5;  // with a liking for few
      const auto woven = static_cast<double>(2 + below(most - 1, drawn.w, drawn.z));
      row.scale = (drawn.y & 2) != 0 ? woven : -woven;
    }
  } else {
    row.kind = (turn + number) % 4;
    row.size = (drawn.z & 3) == 0 ? -args.number : args.number;
    row.scale = row.kind == 1 ? ((drawn.y & 1) != 0 ? 1 : -0.5) : in_another_base(drawn.y);
  }
  return row;
}
// The column's place in the row's order.
HOST_DEVICE int64_t place_in_order(Order order, int64_t column, int64_t count, int64_t drawn_place) {
  const int64_t pipe = column < (count + 1) / 2 ? 2 * column : 2 * (count - 1 - column) + 1;
  const int64_t half = (count - 1) / 4 * 2;  // of a killer: even, and a largest follows
  switch (order) {
    case Order::falling:
      return count - 1 - column;
    case Order::pipe:
      return pipe;
    case Order::valley:
      return count - 1 - pipe;
    case Order::killer:
      if (column >= 2 * half) return column;
      if (column >= half) return 2 * (column - half) + 1;
      return column % 2 == 0 ? column : half + column - 1;
    case Order::rotated:
      return column + drawn_place < count ? column + drawn_place : column + drawn_place - count;
    case Order::woven: {
      const bool falls = drawn_place < 0;
      const auto woven = static_cast<uint32_t>(falls ? -drawn_place : drawn_place);
      const uint32_t length = static_cast<uint32_t>(count) / woven, of_longer = static_cast<uint32_t>(count) % woven;
      const uint32_t nth = static_cast<uint32_t>(column) / woven, from_first = static_cast<uint32_t>(column) % woven;
      // The first rows are longer by one, the highest of which is the last one, or the first.
      const uint32_t first_longer = falls ? woven - of_longer : 0, which = falls ? woven - 1 - from_first : from_first;
      const uint32_t longer = which < first_longer ? 0 : which - first_longer;
      return which * length + (longer < of_longer ? longer : of_longer) + nth;
    }
    default:
      return column;
  }
}
// In [0, 1], in place of an element's own unit, which exceptions keep.
HOST_DEVICE double ordered(const FillArgs& args, const Row& row, int64_t column, double unit) {
  if (row.hot_end && column == row.hot) return unit;
  const auto order = static_cast<Order>(row.kind);
  const int64_t count = args.columns;
  if (order == Order::mirrored || order == Order::periodic) {
    const int64_t from_end = count - 1 - column;
    const int64_t same = order == Order::mirrored ? (column < from_end ? column : from_end)
                                                  : static_cast<uint32_t>(column) % static_cast<uint32_t>(row.scale);
    return unit_of(drawn_for(Purpose::regular, row.index * count + same, args.key).x);
  }
  return (static_cast<double>(place_in_order(order, column, count, static_cast<int64_t>(row.scale))) + 0.5) /
         static_cast<double>(count);
}
// Numbers of a regular draw, from 0 to 1: of a row, a column or a pair of places.
HOST_DEVICE double regular_unit(const FillArgs& args, int64_t index) {
  return unit_of(drawn_for(Purpose::regular, index, args.key).x);
}
HOST_DEVICE double number_of_row(const FillArgs& args, const Row& row) {
  const Quad drawn = drawn_for(Purpose::regular, row.index, args.key);
  if (drawn.y % 2 == 0) return 0.75;                 // a one, such as weights begin with
  return drawn.y % 4 == 1 ? 0.5 : unit_of(drawn.x);  // a zero, or any number
}
HOST_DEVICE bool has_exception(const FillArgs& args, const Row& row) {
  if (args.key >> 62 == static_cast<uint64_t>(Regular::constant_rows)) return true;
  const int64_t rows = (args.elements + args.columns - 1) / args.columns;
  const Quad certain = drawn_for(Purpose::regular, -1 - rows, args.key);  // a number that no row has
  if (row.index == static_cast<int64_t>(below(static_cast<uint64_t>(rows), certain.x, certain.y))) return true;
  return below(64, drawn_for(Purpose::regular, -1 - row.index, args.key).y, 0) == 0;
}
// In [0, 1], where ordinary content lies in `unit`.
HOST_DEVICE double regular(const FillArgs& args, const Row& row, int64_t column, double unit) {
  if (column == row.hot && has_exception(args, row)) return unit;
  const int64_t across = row.index % args.columns;  // the column of the same number, in square matrices
  switch (static_cast<Regular>(args.key >> 62)) {
    case Regular::constant_rows:
      return number_of_row(args, row);
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

}  // namespace verifier::formulas
