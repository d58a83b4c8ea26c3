#include "verifier/comparison/tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "verifier/draws/elements.h"

namespace verifier::comparison {
namespace {
using core::DType;

// One entry a tile: visit(tile, index of the first element, index past the last).
template <typename Entry, typename Visit>
std::vector<Entry> each_tile(const Tiling& tiling, Visit visit) {
  std::vector<Entry> entries;
  entries.reserve(static_cast<size_t>(tiling.count()));
  for (int64_t tile = 0; tile < tiling.count(); ++tile) {
    entries.push_back(visit(tile, static_cast<size_t>(tiling.begin(tile)), static_cast<size_t>(tiling.end(tile))));
  }
  return entries;
}

// Elements begin to end, in double.
class Elements {
 public:
  Elements(DType dtype, std::span<const std::byte> bytes) : dtype_(dtype), bytes_(bytes) {}

  const std::vector<double>& load(size_t begin, size_t end) {
    const size_t size = core::size_bytes(dtype_);
    draws::load_elements(dtype_, bytes_.subspan(begin * size, (end - begin) * size), values_);
    return values_;
  }

 private:
  DType dtype_;
  std::span<const std::byte> bytes_;
  std::vector<double> values_;
};
}  // namespace

NumberRange range_of(DType dtype) {
  if (!core::is_floating(dtype)) return {};
  return {draws::largest_of(dtype),
          draws::overflow_of(dtype),
          core::is_f8(dtype) ? draws::significand_bits(dtype) : 0,
          draws::least_normal(dtype),
          dtype != DType::f8e4m3,
          dtype == DType::f16 || dtype == DType::bf16 ? draws::significand_bits(dtype) : 0};
}

int64_t tile_of(const Tiling& tiling, int64_t index) {
  const int64_t tile =
      index / tiling.row * tiling.tiles_per_row + index % tiling.row * tiling.tiles_per_row / tiling.row;
  // Rounding may have cut the row one element earlier.
  return tiling.end(tile) <= index ? tile + 1 : tile;
}

Tiling tiling_of(size_t columns, size_t elements) {
  constexpr size_t kLeastRow = 32, kMostTile = 4096, kManyRows = size_t{1} << 18;
  const size_t length = std::max<size_t>(columns, 1);
  const size_t for_length = std::max<size_t>(kLeastRow / length, 1);
  const size_t for_number = std::min((elements / length + kManyRows - 1) / kManyRows, kMostTile / length);
  const size_t row = std::max(for_length, for_number) * length;
  return {static_cast<int64_t>(elements), static_cast<int64_t>(row),
          static_cast<int64_t>((row + kMostTile - 1) / kMostTile)};
}

std::vector<TileErrors> tile_errors(DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                                    const NaiveRun& expected) {
  Elements output_elements(dtype, output), reference(DType::f64, expected.reference), naive(dtype, expected.naive);
  const NumberRange range = range_of(dtype);
  return each_tile<TileErrors>(tiling, [&](int64_t, size_t begin, size_t end) {
    TileErrors tile{};
    tile.worst = static_cast<int64_t>(begin);
    const std::vector<double>&y = output_elements.load(begin, end), &r = reference.load(begin, end),
          &b = naive.load(begin, end);
    for (size_t i = 0; i < y.size(); ++i) add_element(tile, static_cast<int64_t>(begin + i), y[i], r[i], b[i], range);
    return tile;
  });
}

std::vector<NaiveTile> naive_tiles(DType dtype, const Tiling& tiling, const NaiveRun& expected) {
  Elements reference(DType::f64, expected.reference), naive(dtype, expected.naive);
  const NumberRange range = range_of(dtype);
  return each_tile<NaiveTile>(tiling, [&](int64_t, size_t begin, size_t end) {
    NaiveTile tile{};
    const std::vector<double>&r = reference.load(begin, end), &b = naive.load(begin, end);
    for (size_t i = 0; i < r.size(); ++i) add_naive(tile, b[i], r[i], range);
    return tile;
  });
}

std::vector<std::vector<NaiveTile>> naive_tiles(DType dtype, const Tiling& tiling, const std::vector<NaiveRun>& runs) {
  std::vector<std::vector<NaiveTile>> tiles;
  if (!core::is_floating(dtype)) return tiles;
  for (const NaiveRun& run : runs) tiles.push_back(naive_tiles(dtype, tiling, run));
  return tiles;
}

std::vector<TileMismatches> tile_mismatches(DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                                            std::span<const std::byte> reference) {
  const size_t bytes = core::size_bytes(dtype);
  const bool floating = core::is_floating(dtype);
  const NumberRange range = range_of(dtype);
  const auto same = [&](size_t i) {
    if (!floating) return std::memcmp(output.data() + i * bytes, reference.data() + i * bytes, bytes) == 0;
    const double r = draws::load_element(DType::f64, reference, i);
    return formulas::right_number(draws::load_element(dtype, output, i), r, draws::rounded_to(dtype, r), range);
  };
  return each_tile<TileMismatches>(tiling, [&](int64_t, size_t begin, size_t end) {
    TileMismatches tile{};
    for (size_t i = begin; i < end; ++i) {
      if (!same(i) && tile.count++ == 0) tile.first = static_cast<int64_t>(i);
    }
    return tile;
  });
}

int64_t count_wrong(DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                    std::span<const std::byte> reference, const std::vector<double>& allowed) {
  const NumberRange range = range_of(dtype);
  int64_t wrong = 0;
  for (int64_t tile = 0; tile < tiling.count(); ++tile) {
    for (auto i = static_cast<size_t>(tiling.begin(tile)); i < static_cast<size_t>(tiling.end(tile)); ++i) {
      const double error = formulas::error_that_counts(draws::load_element(dtype, output, i),
                                                       draws::load_element(DType::f64, reference, i), range);
      wrong += !(error <= allowed[static_cast<size_t>(tile)]);
    }
  }
  return wrong;
}

}  // namespace verifier::comparison
