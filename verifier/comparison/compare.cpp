#include "verifier/comparison/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "verifier/draws/elements.h"

namespace verifier::comparison {
namespace {
using core::DType;

struct Tolerance {
  double rms, max;
};
constexpr double kMostTermsOfShortSums = 4096;
Tolerance tolerance_of(DType dtype, const Reduction& reduction) {
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16 || core::is_f8(dtype);
  if (narrow) return {2, 4};
  const bool is_long = reduction.known_terms && reduction.terms > kMostTermsOfShortSums;
  return {4, !is_long ? 8.0 : reduction.alike ? 32.0 : 10.0};
}

struct Unit {
  double length;      // elements of the tile
  double scale;       // RMS of the reference
  double rms;         // error that is always allowed, of all elements
  double of_element;  // and of any one
  double in_all;      // RMS, over the whole output
  bool demanded;      // false: the naive solution overflows here, or the tile is empty
};

constexpr double kNaiveIsRight = 0.1;  // an error of less than so much of a tile's scale
bool naive_is_right(const OutputForm& form, const TileErrors& tile) {
  return !form.may_overflow ||
         (tile.naive.overflows == 0 && tile.naive.squares <= kNaiveIsRight * kNaiveIsRight * tile.scale_squares);
}

// Where sums are kept in a wider type than outputs, nearly all of an honest error is the one rounding at the end, which
// so many elements show with little luck: then hardly more than what the naive solution shows is allowed them together.
// A second rounding, as of a product in the output's type, shows as 1.41 times the naive error.
constexpr int64_t kManyElements = 4096;
constexpr double kUlpsBesideRounding = 0.02, kBesideRounding = 1.25;

// The naive error of so few elements may be small by luck.
constexpr int64_t kFewElements = 64;
constexpr double kUlpsForFew = 4;

// Since the own rounding of an element of 8 bits does not count (error_beyond_rounding), it is allowed this share of a
// step: a sum of one at its tile's scale, which would be many steps of a small number. A single term is allowed it of
// the least step, and what nearly_right allows of its own.
constexpr double kUlpsBeyondRounding = 1.0 / 64;
bool is_one_term_in_8_bits(const OutputForm& form) {
  return core::is_f8(form.dtype) && form.reduction.terms <= 1 && core::size_bytes(form.accumulate) >= 4 &&
         !form.of_library;
}

// GPUs flush the denormals of f32 in float atomics, whatever a kernel wants, each that a sum meets on its way; those of
// bf16 are computed in f32.
double flushed_to_zero(DType dtype, const Reduction& reduction) {
  if (dtype != DType::f32 && dtype != DType::bf16) return 0;
  return static_cast<double>(std::numeric_limits<float>::min()) * std::sqrt(std::max(reduction.terms, 1.0));
}

bool rounded_once(const OutputForm& form) {
  return core::size_bytes(form.dtype) < core::size_bytes(form.accumulate) && form.tiling.elements >= kManyElements &&
         !form.of_library;
}

std::vector<Unit> units_of(const OutputForm& form, const std::vector<TileErrors>& tiles) {
  const double ulps = form.tiling.elements < kFewElements ? kUlpsForFew : 1;
  const double ulps_in_all = rounded_once(form) ? kUlpsBesideRounding : ulps;
  const double rounding = rounding_of_sums(form.reduction, form.accumulate);
  const auto honest = [&](double size) { return rounding * std::max(form.reduction.partial_sum, size); };
  const double always = std::max(flushed_to_zero(form.dtype, form.reduction), form.reference_error);
  std::vector<Unit> units;
  units.reserve(tiles.size());
  for (size_t i = 0; i < tiles.size(); ++i) {
    const auto tile = static_cast<int64_t>(i);
    const auto length = static_cast<double>(form.tiling.end(tile) - form.tiling.begin(tile));
    const double scale = length > 0 ? std::sqrt(tiles[i].scale_squares / length) : 0;
    const double ulp = draws::ulp_at(form.dtype, scale);
    const double least = std::max(ulps * ulp, always);
    const double step = is_one_term_in_8_bits(form) ? draws::ulp_at(form.dtype, 0) : least;
    // Factors that are rounded before a last sum err in one direction where terms are alike: by an ulp of their own.
    const bool in_parts = form.reduction.coherent && form.reduction.known_terms;
    const double of_one = in_parts ? std::max(least, draws::ulp_at(form.dtype, tiles[i].peak)) : least;
    const double of_element = core::is_f8(form.dtype) ? std::max(kUlpsBeyondRounding * step, always) : of_one;
    units.push_back({length, scale, std::max(least, honest(scale)),
                     std::max(of_element, honest(form.reduction.coherent ? tiles[i].peak : scale)),
                     std::max({ulps_in_all * ulp, always, honest(scale)}),
                     length > 0 && naive_is_right(form, tiles[i])});
  }
  return units;
}

// Keeps the largest ratio of an error to what is allowed. A NaN error counts as infinite.
class Worst {
 public:
  void add(double error, double allowed, int64_t index = 0) {
    const double ratio = error == 0 ? 0 : error / allowed;
    if (!(ratio <= ratio_)) {
      ratio_ = std::isnan(ratio) ? INFINITY : ratio;
      index_ = index;
    }
  }
  double ratio() const { return ratio_; }
  int64_t index() const { return index_; }

 private:
  double ratio_ = 0;
  int64_t index_ = 0;
};

// How wrong the naive output is, with each tile's error relative to its scale, and over all.
struct NaiveError {
  double max = 0, tile_rms = 0, rms = 0;  // relative to the tiles' scales; tile_rms of the worst tile
  double absolute_rms = 0;
};
// Values that are only copied: the naive solution is right to the last bit, and nothing is computed.
constexpr int64_t kCopiedElements = 64;
bool is_copied(const OutputForm& form, const NaiveError& naive, const std::vector<Unit>& units) {
  const auto is_something = [&](const Unit& unit) { return unit.scale > form.reference_error; };
  return naive.max == 0 && naive.absolute_rms == 0 && std::ranges::any_of(units, is_something) &&
         form.reduction.terms <= 1 && !form.reduction.known_terms && form.tiling.elements >= kCopiedElements;
}

// In a tile of zeros nothing is relative: what the naive solution errs by itself, here or close by.
NaiveTile naive_beside_zeros(const std::vector<TileErrors>& tiles,
                             const std::vector<std::vector<NaiveTile>>& neighbours, size_t i) {
  NaiveTile worst = tiles[i].naive;
  for (const std::vector<NaiveTile>& neighbour : neighbours) {
    worst.largest = std::max(worst.largest, neighbour[i].largest);
    worst.squares = std::max(worst.squares, neighbour[i].squares);
  }
  return worst;
}

// `tile_at(i)`: the naive errors of tile i.
template <typename TileAt>
NaiveError naive_error(const OutputForm& form, const std::vector<Unit>& units, TileAt tile_at) {
  NaiveError naive;
  double relative_squares = 0, squares = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    if (!units[i].demanded) continue;
    const NaiveTile& tile = tile_at(i);
    squares += tile.squares;
    if (units[i].scale == 0) continue;
    naive.max = std::max(naive.max, tile.largest / units[i].scale);
    const double relative = tile.squares / units[i].scale / units[i].scale;
    naive.tile_rms = std::max(naive.tile_rms, std::sqrt(relative / units[i].length));
    relative_squares += relative;
  }
  const auto count = static_cast<double>(form.tiling.elements);
  naive.rms = std::sqrt(relative_squares / count);
  naive.absolute_rms = std::sqrt(squares / count);
  return naive;
}

NaiveError largest_naive_error(const OutputForm& form, const std::vector<Unit>& units,
                               const std::vector<TileErrors>& tiles,
                               const std::vector<std::vector<NaiveTile>>& neighbours) {
  NaiveError largest = naive_error(form, units, [&](size_t i) -> const NaiveTile& { return tiles[i].naive; });
  for (const std::vector<NaiveTile>& neighbour : neighbours) {
    const NaiveError one = naive_error(form, units, [&](size_t i) -> const NaiveTile& { return neighbour[i]; });
    largest = {std::max(largest.max, one.max), std::max(largest.tile_rms, one.tile_rms), std::max(largest.rms, one.rms),
               std::max(largest.absolute_rms, one.absolute_rms)};
  }
  return largest;
}
}  // namespace

std::variant<Match, verdicts::Verdict> decide(const OutputForm& form, const std::vector<TileErrors>& tiles,
                                              const std::vector<std::vector<NaiveTile>>& neighbours,
                                              const SecondLook& look) {
  for (const TileErrors& tile : tiles) {
    if (tile.mismatches == 0 || !naive_is_right(form, tile)) continue;
    const auto [expected, got] = look.element(tile.first_mismatch);
    return verdicts::Verdict(verdicts::WrongNonFinite{form.where, form.name, tile.first_mismatch, expected, got});
  }
  const Tolerance tolerance = tolerance_of(form.dtype, form.reduction);
  std::vector<Unit> units = units_of(form, tiles);
  for (size_t i = 0; i < units.size(); ++i) {
    if (!units[i].demanded || units[i].scale != 0) continue;
    const NaiveTile naive = naive_beside_zeros(tiles, neighbours, i);
    units[i].rms += tolerance.rms * std::sqrt(naive.squares / units[i].length);
    units[i].of_element += tolerance.max * naive.largest;
  }
  const NaiveError naive = largest_naive_error(form, units, tiles, neighbours);
  if (is_copied(form, naive, units)) {
    for (Unit& unit : units) unit.rms = unit.of_element = unit.in_all = 0;
  }
  Worst worst, worst_element;
  const double tile_rms = tolerance.rms * std::max(3 * naive.rms, naive.tile_rms);
  std::vector<double> allowed;
  allowed.reserve(tiles.size());
  double total = 0, unit_squares = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    const Unit& unit = units[i];
    allowed.push_back(tolerance.max * naive.max * unit.scale + unit.of_element);
    if (!unit.demanded) {
      allowed.back() = std::numeric_limits<double>::infinity();
      continue;
    }
    worst_element.add(tiles[i].largest, allowed[i], tiles[i].worst);
    worst.add(std::sqrt(tiles[i].squares / unit.length), tile_rms * unit.scale + unit.rms);
    total += tiles[i].squares;
    unit_squares += unit.in_all * unit.in_all * unit.length;
  }
  const auto count = static_cast<double>(form.tiling.elements);
  const double in_all = rounded_once(form) ? kBesideRounding : tolerance.rms;
  worst.add(std::sqrt(total / count), in_all * naive.absolute_rms + std::sqrt(unit_squares / count));
  const double ratio = std::max(worst.ratio(), worst_element.ratio());
  if (ratio <= 1) return Match{ratio};
  const auto [expected, got] = look.element(worst_element.index());
  verdicts::WrongResult wrong{form.where,
                              form.name,
                              worst_element.index(),
                              expected,
                              got,
                              ratio,
                              std::max<int64_t>(look.count_wrong(allowed), 1),
                              form.tiling.elements};
  if (look.pattern) wrong.pattern = look.pattern(allowed, wrong.index);
  return verdicts::Verdict(std::move(wrong));
}

std::variant<Match, verdicts::Verdict> decide_exactly(const OutputForm& form, const std::vector<TileMismatches>& tiles,
                                                      const SecondLook& look) {
  verdicts::WrongResult wrong{form.where, form.name, 0, 0, 0, 0, 0, form.tiling.elements};
  for (const TileMismatches& tile : tiles) {
    if (tile.count > 0 && wrong.wrong_elements == 0) wrong.index = tile.first;
    wrong.wrong_elements += tile.count;
  }
  if (wrong.wrong_elements == 0) return Match{0};
  const auto [expected, got] = look.element(wrong.index);
  wrong.expected = expected;
  wrong.got = got;
  // Large integers that differ may be the same double.
  wrong.ratio = core::is_floating(form.dtype) ? 1 + std::fabs(got - expected) / draws::ulp_at(form.dtype, expected)
                                              : 1 + std::max(std::fabs(got - expected), 1.0);
  if (look.pattern) wrong.pattern = look.pattern({}, wrong.index);
  return verdicts::Verdict(std::move(wrong));
}

std::vector<int64_t> extents(const benchsuite::Tensor& tensor, const core::Bindings& axes) {
  std::vector<int64_t> shape;
  for (const core::Expr& extent : tensor.shape) shape.push_back(extent.eval(axes));
  return shape;
}

std::optional<verdicts::Pattern> pattern_in(const OutputForm& form, std::span<const std::byte> output,
                                            std::span<const std::byte> reference, const std::vector<double>& allowed,
                                            int64_t worst) {
  if (form.shape.empty()) return std::nullopt;
  const DType right_dtype = core::is_floating(form.dtype) ? DType::f64 : form.dtype;
  const auto got = [&](int64_t i) { return draws::load_element(form.dtype, output, static_cast<size_t>(i)); };
  const auto right = [&](int64_t i) { return draws::load_element(right_dtype, reference, static_cast<size_t>(i)); };
  const NumberRange range = range_of(form.dtype);
  const auto wrong = [&](int64_t i) {
    const double y = got(i), r = right(i);
    if (!std::isfinite(y) || !std::isfinite(r)) return false;  // of its class: otherwise the verdict is another
    if (allowed.empty()) return !formulas::right_number(y, r, draws::rounded_to(form.dtype, r), range);
    const double error = formulas::error_that_counts(y, r, range);
    return !(error <= allowed[static_cast<size_t>(tile_of(form.tiling, i))]);
  };
  return find_pattern({form.shape, worst, got, right, wrong});
}

std::variant<Match, verdicts::Verdict> compare(const OutputForm& form, bool exact, std::span<const std::byte> output,
                                               const NaiveRun& expected,
                                               const std::vector<std::vector<NaiveTile>>& neighbours) {
  const DType right = core::is_floating(form.dtype) ? DType::f64 : form.dtype;
  const SecondLook look{[&](int64_t index) {
                          const auto i = static_cast<size_t>(index);
                          return SecondLook::Element{draws::load_element(right, expected.reference, i),
                                                     draws::load_element(form.dtype, output, i)};
                        },
                        [&](const std::vector<double>& allowed) {
                          return count_wrong(form.dtype, form.tiling, output, expected.reference, allowed);
                        },
                        [&](const std::vector<double>& allowed, int64_t worst) {
                          return pattern_in(form, output, expected.reference, allowed, worst);
                        }};
  if (exact || !core::is_floating(form.dtype)) {
    return decide_exactly(form, tile_mismatches(form.dtype, form.tiling, output, expected.reference), look);
  }
  return decide(form, tile_errors(form.dtype, form.tiling, output, expected), neighbours, look);
}

std::variant<Match, verdicts::Verdict> compare(const Comparison& c, const std::string& name,
                                               const verdicts::Where& where) {
  const Tiling tiling = tiling_of(c.columns, c.output.size() / core::size_bytes(c.dtype));
  return compare({c.dtype, c.accumulate, tiling, c.reduction, name, where, c.shape, c.may_overflow, 0, c.of_library},
                 c.exact, c.output, c.expected, naive_tiles(c.dtype, tiling, c.neighbours));
}

bool is_one_more_rounding(const verdicts::WrongResult& wrong, core::DType dtype) {
  return wrong.wrong_elements == 1 && std::fabs(wrong.got - wrong.expected) <= draws::ulp_at(dtype, wrong.expected);
}

}  // namespace verifier::comparison
