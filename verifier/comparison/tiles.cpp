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
}  // namespace

int64_t tile_of(const Tiling& tiling, int64_t index) {
  const int64_t tile =
      index / tiling.row * tiling.tiles_per_row + index % tiling.row * tiling.tiles_per_row / tiling.row;
  // Rounding may have cut the row one element earlier.
  return tiling.end(tile) <= index ? tile + 1 : tile;
}

Tiling tiling_of(size_t columns, size_t elements) {
  constexpr size_t kLeastRow = 32, kMostTile = 4096;
  const size_t length = std::max<size_t>(columns, 1);
  const size_t row = length < kLeastRow ? kLeastRow / length * length : length;
  return {static_cast<int64_t>(elements), static_cast<int64_t>(row),
          static_cast<int64_t>((row + kMostTile - 1) / kMostTile)};
}

std::vector<TileErrors> tile_errors(DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                                    const NaiveRun& expected) {
  const std::vector<double> all_y = draws::load_elements(dtype, output),
                            all_r = draws::load_elements(DType::f64, expected.reference),
                            all_b = draws::load_elements(dtype, expected.naive);
  const double most = draws::largest_of(dtype);
  return each_tile<TileErrors>(tiling, [&](int64_t, size_t begin, size_t end) {
    TileErrors tile{};
    tile.worst = static_cast<int64_t>(begin);
    for (size_t i = begin; i < end; ++i) {
      add_element(tile, static_cast<int64_t>(i), all_y[i], all_r[i], all_b[i], most);
    }
    return tile;
  });
}

std::vector<NaiveTile> naive_tiles(DType dtype, const Tiling& tiling, const NaiveRun& expected) {
  const std::vector<double> r = draws::load_elements(DType::f64, expected.reference),
                            b = draws::load_elements(dtype, expected.naive);
  return each_tile<NaiveTile>(tiling, [&](int64_t, size_t begin, size_t end) {
    NaiveTile tile{};
    for (size_t i = begin; i < end; ++i) add_naive(tile, b[i], r[i]);
    return tile;
  });
}

std::vector<TileMismatches> tile_mismatches(DType dtype, const Tiling& tiling, std::span<const std::byte> output,
                                            std::span<const std::byte> reference) {
  const size_t bytes = core::size_bytes(dtype);
  const bool floating = core::is_floating(dtype);
  const auto same = [&](size_t i) {
    if (!floating) return std::memcmp(output.data() + i * bytes, reference.data() + i * bytes, bytes) == 0;
    const double y = draws::load_element(dtype, output, i),
                 r = draws::rounded_to(dtype, draws::load_element(DType::f64, reference, i));
    return y == r || (std::isnan(y) && std::isnan(r));
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
  int64_t wrong = 0;
  for (int64_t tile = 0; tile < tiling.count(); ++tile) {
    for (auto i = static_cast<size_t>(tiling.begin(tile)); i < static_cast<size_t>(tiling.end(tile)); ++i) {
      const double error =
          formulas::error_of(draws::load_element(dtype, output, i), draws::load_element(DType::f64, reference, i));
      wrong += !(error <= allowed[static_cast<size_t>(tile)]);
    }
  }
  return wrong;
}

}  // namespace verifier::comparison
