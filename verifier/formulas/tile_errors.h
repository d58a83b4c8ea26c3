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
  double largest;     // |b - r|
  double squares;     // sum of (b - r)^2
  int64_t overflows;  // elements where b is not finite and r is
};
struct TileErrors {
  double scale_squares;  // sum of r^2 where r is finite
  double peak;           // |r|, the largest that is finite
  NaiveTile naive;
  double largest;          // |y - r|
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

// May a candidate give y where r is right and the naive solution gives b, as far as NaN and infinity go? `largest`:
// finite number of the output's dtype.
HOST_DEVICE bool right_class(double y, double r, double b, double largest) {
  if (isnan(r)) return isnan(y);
  if (isinf(r)) return y == r;
  const bool same_infinity = isinf(y) && (y < 0) == (r < 0);
  if (fabs(r) > largest * 1.01) return same_infinity;
  if (isfinite(y)) return true;
  // Either side of the largest number is right close to it, and where the naive solution itself overflows.
  if (fabs(r) > largest * 0.99) return same_infinity;
  return isnan(b) ? isnan(y) : y == b;
}

// The error of the naive output or of the candidate's; what is not finite is compared by its class.
HOST_DEVICE double error_of(double value, double r) { return isfinite(r) && isfinite(value) ? fabs(value - r) : 0; }

HOST_DEVICE void add_naive(NaiveTile& tile, double b, double r) {
  const double error = error_of(b, r);
  tile.largest = fmax(tile.largest, error);
  tile.squares += error * error;
  tile.overflows += isfinite(r) && !isfinite(b);
}

// Elements of a tile come in the order of their indices.
HOST_DEVICE void add_element(TileErrors& tile, int64_t index, double y, double r, double b, double largest) {
  if (isfinite(r)) {
    tile.scale_squares += r * r;
    tile.peak = fmax(tile.peak, fabs(r));
  }
  add_naive(tile.naive, b, r);
  const double error = error_of(y, r);
  if (error > tile.largest) {
    tile.largest = error;
    tile.worst = index;
  }
  tile.squares += error * error;
  if (!right_class(y, r, b, largest) && tile.mismatches++ == 0) tile.first_mismatch = index;
}

// Two parts of a tile together.
HOST_DEVICE NaiveTile join(const NaiveTile& a, const NaiveTile& b) {
  return {fmax(a.largest, b.largest), a.squares + b.squares, a.overflows + b.overflows};
}
HOST_DEVICE int64_t first_of(int64_t count_a, int64_t first_a, int64_t count_b, int64_t first_b) {
  return count_b == 0 || (count_a > 0 && first_a < first_b) ? first_a : first_b;
}
HOST_DEVICE TileErrors join(const TileErrors& a, const TileErrors& b) {
  const bool other = b.largest > a.largest || (b.largest == a.largest && b.worst < a.worst);
  return {a.scale_squares + b.scale_squares,
          fmax(a.peak, b.peak),
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
