// One draw of one input: how it is distributed, and the chance that each element has. verifier/formulas/content.h makes
// the elements of it.
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
  offset,          // a number + ordinary: 100 to 1e5, of either sign; bf16: 100; f16: 8, or 64 to 1024 in one input
  spikes,          // ordinary, one element in 64 a thousand times as large; f16: thirty times
  one_hot,         // one element of each row is 1, the others 0
  ties,            // three distinct values only, in one row of four none below zero
  denormals,       // about the least normal number of the dtype
  one_scale,       // ordinary, all scaled by one factor: 1e15, or 2^-8 to 2^-20; f16: 2^-1 to 2^-4
  exact,           // N(0,1) in steps of 1/32 or 1/8, dense, whose sums of products f32 holds: the exact battery
  exact_products,  // one number with all its bits in each row, the others 0; the other input has powers of two there
  one_value,       // one value everywhere, or but for one element in 64 of the tensor or a half; integers only
  non_finite,      // ordinary, one element in 64 NaN or infinite: each row of one of four kinds
  patchwork,       // ordinary, with a few patches of other content at drawn places
  stray,           // ordinary, with one NaN or infinity at a drawn place
  dominant,        // ordinary, one element of each row beside which all others are nothing in a sum
  few,             // zeros, but for some eight elements of each row, near 40: they alone count, in a softmax too
  extremes,        // each row far from zero, or with an outlier and perhaps another at its end: at FillArgs::extreme
  regular,         // what invites a short cut (see Regular), with exceptions that a sample of elements hardly meets
  // Ordinary, one input scaled by 2^-20 to 2^-110, or all by 2^-20 to 2^-55, so that products of two are normal
  // numbers; f16: by 2^-4 to 2^-12.
  tiny,
  alike,    // ordinary, inputs of one shape having one content but for an exception in each
  ordered,  // each row in an order of its own that ends sorts, selections and samples early (see Order)
  named,    // ordinary, with rows about a number that the candidate's source names, FillArgs::number
  // Nearly all exponentials are small and count by their number alone: near 0, but for one element of each row 2 to 12
  // above the others; or, for products, rows of one number each, few of which make the score that is so far above.
  far_elements,
  far_rows,
  // All scaled by one factor at which a series in place of an exponential is off by a little: ordinary by 2^-0.5 to
  // 2^-5.5, or flat up to 2^0.25 to 2^-2.25, so that as many numbers lie close to the largest, where a series is worst,
  // as to 0.
  moderate,
  simple,  // one input has content of which something is true throughout (see Simple); others at times, too, or spikes
};

// The change that a patch makes to the elements that it covers.
enum class Effect : int64_t {
  number,      // all are `size`
  shifted,     // plus `size`; between bounds: close to the upper one
  scaled,      // times `size`
  ties,        // three distinct values only
  whole,       // rounded to whole numbers; between bounds: to multiples of 1/16 of the width
  sorted,      // rising or falling along the row, as the sign of `size` says
  denormals,   // about the least normal number
  exponents,   // times 2^-size to 2^size, each
  sparse,      // `size` lower, but for some eight elements of a row
  after_relu,  // zeros of both signs in place of what is below 0
  // Of all rows: ordered and named draws.
  in_order,
  about_number,
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
  int64_t narrow;         // is the dtype f16, or one of 8 bits?
  int64_t significand;    // its bits, the hidden one included
  double least_normal;    // of the dtype
  double largest;         // number of a dtype of 8 bits; 0: of another
  double special[4];      // NaN, inf, -inf, and a NaN with its sign set
  int64_t matrix_rows;    // of a triangular input
  double most_size;       // of outliers
  double extreme;         // the one size of a draw of extremes: much larger rows would hide the others
  double grain;           // of patchwork: content is a multiple of it; 0: of nothing
  double number;          // that the candidate's source names, of a named draw
  int64_t rows_of_a_sum;  // of far rows
  int64_t rows_alike;     // of a simple draw: so many rows together are one number
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

HOST_DEVICE int64_t clamped(int64_t value, int64_t least, int64_t most) {
  return value < least ? least : value > most ? most : value;
}
HOST_DEVICE int64_t any_integer(const FillArgs& args, uint32_t high, uint32_t low) {
  const uint64_t least = static_cast<uint64_t>(args.least), count = static_cast<uint64_t>(args.most) - least + 1;
  return static_cast<int64_t>(least + below(count, high, low));
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

}  // namespace verifier::formulas
