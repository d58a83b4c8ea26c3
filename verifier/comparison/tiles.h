// Statistics of an output, tile by tile: all that the decision about it (verifier/compare.h) needs of its elements.
// They come from host memory here and from a kernel on a GPU (verifier/devices/gpu/judge_statistics.cu).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "verifier/formulas/tile_errors.h"

namespace verifier::comparison {

using formulas::NaiveTile;
using formulas::NumberRange;
using formulas::TileErrors;
using formulas::TileMismatches;
using formulas::Tiling;

// The range of a floating dtype; all zeros for integers.
NumberRange range_of(core::DType dtype);

// The tile that an element lies in.
int64_t tile_of(const Tiling& tiling, int64_t index);
// Tiles of at most 4096 elements. `columns`: the length of the output's rows. Rows of fewer than 32 elements share a
// tile, and shorter rows than 4096 do where there are more than 2^18: 26 million tiles take the host 12 s.
Tiling tiling_of(size_t columns, size_t elements);

// The naive solution's output for some inputs, and the reference's.
struct NaiveRun {
  std::span<const std::byte> reference;  // in Tensor::reference_dtype()
  std::span<const std::byte> naive;      // in the output's dtype
};

// For a floating output; one entry a tile, as below.
std::vector<TileErrors> tile_errors(core::DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                                    const NaiveRun& expected);
std::vector<NaiveTile> naive_tiles(core::DType dtype, const Tiling& tiling, const NaiveRun& expected);
// The same for each run. Empty for an output of integers, which are compared bit for bit.
std::vector<std::vector<NaiveTile>> naive_tiles(core::DType dtype, const Tiling& tiling,
                                                const std::vector<NaiveRun>& runs);
// For any output; floating ones against the reference as their dtype rounds it, or saturates if that has 8 bits. Zeros
// of either sign are equal, and so are NaNs.
std::vector<TileMismatches> tile_mismatches(core::DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                                            std::span<const std::byte> reference);
// How many elements of a floating output err by more than their tile's `allowed`.
int64_t count_wrong(core::DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                    std::span<const std::byte> reference, const std::vector<double>& allowed);

}  // namespace verifier::comparison
