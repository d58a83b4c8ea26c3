// Content whose rows have a structure that a problem relies on: permutations, sorted numbers, probabilities. It is the
// same in every distribution, but each row draws its own shape, extreme ones among them.
#pragma once

#include <math.h>
#include <cstdint>

#include "verifier/formulas/content.h"

namespace verifier::formulas {

// In the order of benchsuite::Init.
enum class Structure : int64_t { permutation = 3, sorted, probabilities, triangular, upper_triangular };

HOST_DEVICE bool has_structured_rows(const FillArgs& args) {
  return args.kind >= static_cast<int64_t>(Structure::permutation) &&
         args.kind <= static_cast<int64_t>(Structure::probabilities);
}
// Does the element lie in the triangle of zeros? The rest of the matrix is drawn from N(0, scale).
HOST_DEVICE bool is_in_empty_triangle(const FillArgs& args, int64_t index) {
  const bool upper = args.kind == static_cast<int64_t>(Structure::upper_triangular);
  if (!upper && args.kind != static_cast<int64_t>(Structure::triangular)) return false;
  const int64_t column = index % args.columns, row = index / args.columns % args.matrix_rows;
  return upper ? column < row : column > row;
}

// Numbers that a row draws for its shape.
HOST_DEVICE Quad structure_of_row(const FillArgs& args, int64_t row) { return drawn_for(Purpose::row, row, args.key); }

HOST_DEVICE uint64_t mixed(uint64_t value, uint32_t key) {
  const uint64_t product = (value + key) * 0x9E3779B97F4A7C15u;
  return (product ^ product >> 29) * 0xBF58476D1CE4E5B9u >> 20;
}

// A bijection of [0, 2^bits): Feistel rounds over two halves, of which the lower has the odd bit.
HOST_DEVICE uint64_t shuffled_bits(uint64_t value, uint32_t bits, const Quad& key) {
  const uint32_t low_bits = (bits + 1) / 2, high_bits = bits - low_bits;
  const uint64_t low_mask = (static_cast<uint64_t>(1) << low_bits) - 1;
  const uint64_t high_mask = (static_cast<uint64_t>(1) << high_bits) - 1;
  uint64_t low = value & low_mask, high = value >> low_bits;
  for (int64_t round = 0; round < 4; ++round) {
    high = (high ^ mixed(low, component(key, round))) & high_mask;
    low = (low ^ mixed(high, ~component(key, 3 - round))) & low_mask;
  }
  return high << low_bits | low;
}

// Where element `column` of a shuffled row of `count` stands: each place once.
HOST_DEVICE int64_t shuffled(int64_t column, int64_t count, const Quad& key) {
  uint32_t bits = 1;
  while (static_cast<uint64_t>(1) << bits < static_cast<uint64_t>(count)) ++bits;
  auto place = static_cast<uint64_t>(column);
  do {
    place = shuffled_bits(place, bits, key);  // walks its cycle back into the range
  } while (place >= static_cast<uint64_t>(count));
  return static_cast<int64_t>(place);
}

// Ascending, descending, with two places exchanged, turned round, or shuffled.
HOST_DEVICE int64_t permuted(const FillArgs& args, int64_t row, int64_t column) {
  const Quad drawn = structure_of_row(args, row);
  const uint64_t shape = below(8, drawn.x, 0);
  if (shape == 0) return column;
  if (shape == 1) return args.columns - 1 - column;
  const auto one = static_cast<int64_t>(below(static_cast<uint64_t>(args.columns), drawn.y, drawn.z));
  if (shape == 2) {
    const auto other = static_cast<int64_t>(below(static_cast<uint64_t>(args.columns), drawn.w, drawn.y));
    return column == one ? other : column == other ? one : column;
  }
  if (shape == 3) return column + one < args.columns ? column + one : column + one - args.columns;
  return shuffled(column, args.columns, drawn);
}

// A number in [0, 1) for each column of a row, never smaller than the one before: even, crowded at either end, in a few
// steps, with one jump over nearly all, or evenly spaced but for a sixteenth of the row.
HOST_DEVICE double ascending(const FillArgs& args, int64_t row, int64_t column) {
  const Quad own = structure_of_row(args, row);
  const uint64_t shape = below(8, own.x, 0);
  const Quad drawn = drawn_for(Purpose::value_of_quad, row * args.columns + column, args.key);
  const double along = (static_cast<double>(column) + unit_of(drawn.x)) / static_cast<double>(args.columns);
  if (shape == 0) return along * along * along * along;
  if (shape == 1) return 1 - (1 - along) * (1 - along) * (1 - along) * (1 - along);
  const double place = static_cast<double>(below(static_cast<uint64_t>(args.columns), own.w, own.z));
  if (shape == 2) {  // a jump
    return static_cast<double>(column) < place ? along / 16 : 15.0 / 16 + along / 16;
  }
  if (shape == 3) {  // steps
    const double steps = 2 + place / 4;
    return floor(along * steps) / steps;
  }
  const bool inner = column < args.columns - 1;
  if (shape == 4 && inner &&
      (static_cast<double>(column) < place || static_cast<double>(column - args.columns / 16) > place)) {
    return static_cast<double>(column) / static_cast<double>(args.columns - 1);
  }
  return along;
}

// From `least` to `most`, both of which occur in a row of two or more.
HOST_DEVICE int64_t sorted_integer(const FillArgs& args, int64_t row, int64_t column) {
  if (column == 0) return args.least;
  if (column == args.columns - 1) return args.most;
  if (is_simple(args, Simple::evenly_spaced))
    return args.least + (args.most - args.least) / (args.columns - 1) * column;
  const double width = static_cast<double>(args.most) - static_cast<double>(args.least);
  if (args.distribution == static_cast<int64_t>(Distribution::named) && args.number >= 1 && args.number < width) {
    const Quad drawn = drawn_for(Purpose::value_of_quad, row * args.columns + column, args.key);
    const double step = args.number * (1 + unit_of(structure_of_row(args, row).y) / 4);
    const double beyond = (step < 8 ? step : 8) * unit_of(drawn.x);  // less than a step: the row ascends
    const double place = step * static_cast<double>(column) + beyond;
    return place >= width ? args.most : args.least + static_cast<int64_t>(place);
  }
  const Quad own = structure_of_row(args, row);
  const uint64_t shape = below(8, own.x, 0);
  if (shape == 5) {  // neighbours, or pairs of equals, up to the end
    return clamped(args.most - (args.columns - 1 - column) / (1 + own.w % 2), args.least, args.most);
  }
  const int64_t step = int64_t{1} << (8 + own.w % 17);
  if (shape == 6 && width >= static_cast<double>(step)) {  // equal in their lowest bits
    return clamped(args.least + column / 2 * step, args.least, args.most);
  }
  const int64_t from_end = args.columns - 1 - column, close = args.columns / 4 < 64 ? args.columns / 4 : 64;
  if (shape == 7 && from_end < close) return clamped(args.most - from_end, args.least, args.most);
  const int64_t below_them = args.most - close > args.least ? args.most - close : args.least;
  return clamped(args.least + static_cast<int64_t>(ascending(args, row, column) * (width + 1)), args.least,
                 shape == 7 ? below_them : args.most);
}

// Two to 20 pieces of one size, all larger than the others: sorts and searches stop at the first of them, and the size
// may be enough by itself. Pairs of small pieces share twice the mean of the small ones.
HOST_DEVICE double equal_probability(const FillArgs& args, const Quad& drawn, int64_t column) {
  const uint64_t most = (drawn.x & 1) != 0 ? 3 : 19;  // with a liking for few
  const auto wanted = static_cast<int64_t>(2 + below(most, drawn.z, 0));
  const int64_t equals = wanted < args.columns ? wanted : args.columns, others = args.columns - equals;
  const double rest = others > 0 ? ldexp(1.0, -2 - static_cast<int>(below(12, drawn.w, 0))) : 0;
  const int64_t place = shuffled(column, args.columns, drawn) - equals;
  if (place < 0) return (1 - rest) / static_cast<double>(equals);
  const double mean = rest / static_cast<double>(others);
  if (place == (others - 1) / 2 * 2 && others % 2 == 1) return mean;
  const double more = unit_of(drawn_for(Purpose::value_of_quad, place / 2, args.key).x) / 2;
  return mean * (place % 2 == 0 ? 1 + more : 1 - more);
}

// The pieces between ascending numbers add up to 1. One row in eight has a single piece, and one a few equal ones.
HOST_DEVICE double probability(const FillArgs& args, int64_t row, int64_t column) {
  if (is_simple(args, Simple::evenly_spaced)) return 1 / static_cast<double>(args.columns);
  const Quad drawn = structure_of_row(args, row);
  const uint64_t shape = below(8, drawn.y, 0);
  if (shape == 1) return equal_probability(args, drawn, column);
  if (shape == 0) {
    return column == static_cast<int64_t>(below(static_cast<uint64_t>(args.columns), drawn.z, drawn.w)) ? 1 : 0;
  }
  const double begin = column == 0 ? 0 : ascending(args, row, column);
  const double end = column == args.columns - 1 ? 1 : ascending(args, row, column + 1);
  return end - begin;
}

// An element of an integer tensor, and of a floating one.
HOST_DEVICE int64_t structured_integer(const FillArgs& args, int64_t index) {
  const int64_t row = index / args.columns, column = index % args.columns;
  if (args.kind == static_cast<int64_t>(Structure::permutation)) return permuted(args, row, column);
  return sorted_integer(args, row, column);
}
HOST_DEVICE double structured_number(const FillArgs& args, int64_t index) {
  const int64_t row = index / args.columns, column = index % args.columns;
  switch (static_cast<Structure>(args.kind)) {
    case Structure::permutation:
      return static_cast<double>(permuted(args, row, column));
    case Structure::sorted:
      return args.low + (args.high - args.low) * ascending(args, row, column);
    default:
      return probability(args, row, column);
  }
}

}  // namespace verifier::formulas
