// Statistics of an output's tiles, element by element.
#pragma once

#include <math.h>
#include <cstdint>

#include "verifier/formulas/philox.h"

namespace verifier::formulas {

// How an output is cut into tiles, each of which has a scale of its own: short rows are taken together, long ones are
// cut into equal parts. A tile at the end of an output that is no whole number of rows may be empty.
struct Tiling {
  int64_t elements = 0;
  int64_t row = 1;            // elements of a row, or of the rows taken together
  int64_t tiles_per_row = 1;  // at least 1

  HOST_DEVICE int64_t count() const { return (elements + row - 1) / row * tiles_per_row; }
  // Index of the tile's first element, flat; of the tile `count()`: elements.
  HOST_DEVICE int64_t begin(int64_t tile) const {
    const int64_t at = tile / tiles_per_row * row + row * (tile % tiles_per_row) / tiles_per_row;
    return at < elements ? at : elements;
  }
  HOST_DEVICE int64_t end(int64_t tile) const { return begin(tile + 1); }
};

// Below, r is the reference, b the naive output, y the candidate's. Errors are counted where both sides are finite.
// Without initializers, since threads of a GPU share arrays of these: `TileErrors tile{}` is a tile of no elements.
struct NaiveTile {
  double largest;     // |b - r|, beyond rounding
  double squares;     // sum of (b - r)^2
  int64_t overflows;  // elements where b is not finite and r is, nor overflows_at_its_end
};
struct TileErrors {
  double scale_squares;  // sum of r^2 where r is finite in y's dtype, to within 1 %
  double peak;           // |r|, the largest that is
  NaiveTile naive;
  double largest;          // |y - r|, as error_that_counts has it
  double squares;          // sum of (y - r)^2
  int64_t worst;           // flat index of the first element with the largest |y - r|
  int64_t mismatches;      // elements where NaN or infinity stands and should not, or the reverse
  int64_t first_mismatch;  // flat index; means nothing without mismatches
};
// Elements that must be right to the last bit.
struct TileMismatches {
  int64_t count;
  int64_t first;  // flat index; means nothing without mismatches
};

// The numbers of an output's dtype. All fields are 8 bytes wide.
struct NumberRange {
  double largest;   // finite number
  double overflow;  // the magnitude from where on rounding overflows, to within 1 %
  // For a format of 8 bits, the bits of its significand, the hidden one included; 0 for others. Conversions to 8 bits
  // either saturate or overflow, so both are right. They have few numbers, so an element may err by half a step of its
  // own besides what its tile allows.
  int64_t significand;
  double least_normal;
  int64_t has_infinity;
  int64_t significand_of_16;  // the same for a format of 16 bits; 0 for others
};

// The reference as the dtype holds it.
HOST_DEVICE double saturated(double r, const NumberRange& range) {
  return range.significand != 0 && fabs(r) > range.largest ? copysign(range.largest, r) : r;
}

// May a candidate give y where r is right and the naive solution gives b, as far as NaN and infinity go?
HOST_DEVICE bool right_class(double y, double r, double b, const NumberRange& range) {
  if (isnan(r)) return isnan(y);
  const bool overflown = range.has_infinity != 0 ? isinf(y) && (y < 0) == (r < 0) : isnan(y);
  if (range.significand == 0 && (isinf(r) || fabs(r) > range.overflow * 1.01)) {
    return overflown || (isfinite(r) && isnan(b) && isnan(y));  // naive overflowed on the way, to both infinities
  }
  if (isfinite(y)) return true;
  // Either side of the largest number is right close to it, and where the naive solution itself overflows.
  if (fabs(r) > range.overflow * 0.99) return overflown;
  return isnan(b) ? isnan(y) : y == b;
}

// Is y the right number to the last bit? `rounded`: r in y's dtype.
HOST_DEVICE bool right_number(double y, double r, double rounded, const NumberRange& range) {
  if (y == rounded || (isnan(y) && isnan(rounded))) return true;
  return range.significand != 0 && fabs(r) > range.overflow && y == saturated(r, range);
}

// Return `a` where `b` is NaN. Compilers inline these, but not fmax and fmin.
HOST_DEVICE double larger_of(double a, double b) { return b > a ? b : a; }
HOST_DEVICE double smaller_of(double a, double b) { return b < a ? b : a; }

// The error of the naive output or of the candidate's; what is not finite is compared by its class.
HOST_DEVICE double error_of(double value, double r) { return isfinite(r) && isfinite(value) ? fabs(value - r) : 0; }

// Half a step of a format with so many bits of significand, at r.
HOST_DEVICE double half_step(double r, int64_t significand, const NumberRange& range) {
  int exponent = 0;
  frexp(larger_of(range.least_normal, fabs(r)), &exponent);
  return ldexp(1.0, exponent - 1 - static_cast<int>(significand));
}

// The same, beyond the half step by which the one rounding to 8 bits errs.
HOST_DEVICE double error_beyond_rounding(double value, double r, const NumberRange& range) {
  const double held = saturated(r, range), error = error_of(value, held);
  if (range.significand == 0 || error == 0) return error;
  return larger_of(0.0, error - half_step(held, range.significand, range));
}

// How far a whole number is from the unrounded one, beyond the half by which rounding to the nearest errs.
HOST_DEVICE double beyond_half(double y, double r) {
  const double beyond = fabs(y - r) - 0.5;
  return isnan(beyond) ? HUGE_VAL : larger_of(0.0, beyond);
}

// Is an element of 8 or 16 bits rounded rightly, or nearly so? What its tile allows is of the tile's scale, and its own
// step may be larger. `error`: of 8 bits, beyond the rounding.
HOST_DEVICE bool nearly_right(double error, double r, const NumberRange& range) {
  constexpr double kNearly = 1.0 / 32;
  if (range.significand != 0) return error <= kNearly * half_step(saturated(r, range), range.significand, range);
  return range.significand_of_16 != 0 && error <= (1 + kNearly) * half_step(r, range.significand_of_16, range);
}

// The candidate's error, as far as it counts.
HOST_DEVICE double error_that_counts(double y, double r, const NumberRange& range) {
  const double error = error_beyond_rounding(y, r, range);
  return nearly_right(error, r, range) ? 0 : error;
}

// Is r too large for a format that ends far before the sums do, as f16? Then its last rounding overflows, not a sum.
HOST_DEVICE bool overflows_at_its_end(double r, const NumberRange& range) {
  constexpr double kFarBeforeSums = 1e30;
  return range.overflow < kFarBeforeSums && fabs(r) > range.overflow * 1.01;
}

HOST_DEVICE void add_naive(NaiveTile& tile, double b, double r, const NumberRange& range) {
  const double error = error_of(b, saturated(r, range));
  tile.largest = larger_of(tile.largest, error_beyond_rounding(b, r, range));
  tile.squares += error * error;
  tile.overflows += isfinite(r) && !isfinite(b) && !overflows_at_its_end(r, range);
}

// Elements of a tile come in the order of their indices.
HOST_DEVICE void add_element(TileErrors& tile, int64_t index, double y, double r, double b, const NumberRange& range) {
  const double held = saturated(r, range);
  if (isfinite(held) && fabs(held) <= range.overflow * 1.01) {  // y has nothing of a larger one, see right_class
    const double size = smaller_of(fabs(held), range.overflow);
    tile.scale_squares += size * size;
    tile.peak = larger_of(tile.peak, size);
  }
  add_naive(tile.naive, b, r, range);
  const double error = error_of(y, held), beyond = error_beyond_rounding(y, r, range);
  if (beyond > tile.largest && !nearly_right(beyond, r, range)) {
    tile.largest = beyond;
    tile.worst = index;
  }
  tile.squares += error * error;
  if (!right_class(y, r, b, range) && tile.mismatches++ == 0) tile.first_mismatch = index;
}

// Two parts of a tile together.
HOST_DEVICE NaiveTile join(const NaiveTile& a, const NaiveTile& b) {
  return {larger_of(a.largest, b.largest), a.squares + b.squares, a.overflows + b.overflows};
}
HOST_DEVICE int64_t first_of(int64_t count_a, int64_t first_a, int64_t count_b, int64_t first_b) {
  return count_b == 0 || (count_a > 0 && first_a < first_b) ? first_a : first_b;
}
HOST_DEVICE TileErrors join(const TileErrors& a, const TileErrors& b) {
  const bool other = b.largest > a.largest || (b.largest == a.largest && b.worst < a.worst);
  return {a.scale_squares + b.scale_squares,
          larger_of(a.peak, b.peak),
          join(a.naive, b.naive),
          other ? b.largest : a.largest,
          a.squares + b.squares,
          other ? b.worst : a.worst,
          a.mismatches + b.mismatches,
          first_of(a.mismatches, a.first_mismatch, b.mismatches, b.first_mismatch)};
}
HOST_DEVICE TileMismatches join(const TileMismatches& a, const TileMismatches& b) {
  return {a.count + b.count, first_of(a.count, a.first, b.count, b.first)};
}

}  // namespace verifier::formulas
