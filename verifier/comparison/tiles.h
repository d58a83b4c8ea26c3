// Statistics of an output, tile by tile: all that the decision about it (verifier/compare.h) needs of its elements.
// They come from host memory here and from a kernel on a GPU (verifier/devices/cuda/judge_statistics.cu).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtype.h"

namespace verifier::comparison {

// How an output is cut into tiles, each of which has a scale of its own: short rows are taken together, long ones are
// cut into equal parts of at most 4096 elements. A tile at the end of an output that is no whole number of rows may be
// empty.
struct Tiling {
  int64_t elements = 0;
  int64_t row = 1;            // elements of a row, or of the rows taken together
  int64_t tiles_per_row = 1;  // at least 1

  int64_t count() const { return (elements + row - 1) / row * tiles_per_row; }
  int64_t begin(int64_t tile) const;  // index of the tile's first element, flat; of the tile `count()`: elements
  int64_t end(int64_t tile) const { return begin(tile + 1); }
  int64_t tile_of(int64_t index) const;  // that an element lies in
};
// `columns`: the length of the output's rows.
Tiling tiling_of(size_t columns, size_t elements);

// The naive solution's output for some inputs, and the reference's.
struct NaiveRun {
  std::span<const std::byte> reference;  // double for floating dtypes, otherwise the output's dtype
  std::span<const std::byte> naive;      // in the output's dtype
};

// Below, r is the reference, b the naive output, y the candidate's. Errors are counted where both sides are finite.
struct NaiveTile {
  double largest = 0;  // |b - r|
  double squares = 0;  // sum of (b - r)^2
};
struct TileErrors {
  double scale_squares = 0;  // sum of r^2 where r is finite
  double peak = 0;           // |r|, the largest that is finite
  NaiveTile naive;
  double largest = 0;          // |y - r|
  double squares = 0;          // sum of (y - r)^2
  int64_t worst = 0;           // flat index of the first element with the largest |y - r|
  int64_t mismatches = 0;      // elements where NaN or infinity stands and should not, or the reverse
  int64_t first_mismatch = 0;  // flat index; means nothing without mismatches
};
// Of what must be right to the last bit.
struct TileMismatches {
  int64_t count = 0;
  int64_t first = 0;  // flat index; means nothing without mismatches
};

// Of a floating output; one entry a tile, as below.
std::vector<TileErrors> tile_errors(core::DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                                    const NaiveRun& expected);
std::vector<NaiveTile> naive_tiles(core::DType dtype, const Tiling& tiling, const NaiveRun& expected);
// Of any output; floating ones against the reference as their dtype rounds it. Zeros of either sign are equal, and so
// are NaNs.
std::vector<TileMismatches> tile_mismatches(core::DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                                            std::span<const std::byte> reference);
// How many elements of a floating output err by more than their tile's `allowed`.
int64_t count_wrong(core::DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                    std::span<const std::byte> reference, const std::vector<double>& allowed);

}  // namespace verifier::comparison
