// A kernel that copies a tensor and damages it: before naive it damages an input, after naive an output.
#pragma once

#include <string>
#include <vector>

#include "core/dtype.h"

namespace verifier::audit {

// The device code uses these numbers.
enum class Damage : int {
  none = 0,
  nothing_written = 1,
  end_not_written = 2,  // the last sixteenth
  zeros = 3,            // an integer input: its least value
  typical = 4,          // one typical value everywhere: the median of the tensor's first elements
  other = 5,            // the content of another tensor, repeated
  nan_in_one = 6,
  end_zeros = 7,     // the last sixteenth
  end_repeated = 8,  // the last sixteenth repeats the one before it
  shifted = 9,       // by one element
  rows_swapped = 10,
  transposed = 11,
  first_row = 12,       // in every row
  rounded = 13,         // floats: drops the lowest `amount` bits of the significand; integers: the lowest bit
  one_doubled = 14,     // one element; integers: one more
  some_off = 15,        // one element in 97, by about 1 % or a few units of narrow floats; integers: by one
  row_ends_zeros = 16,  // the last 1 % of each row, one element at least
  last_row_zeros = 17,  //
  finite_only = 18,     // NaN and infinity become zeros
};

// extern "C" __global__ void audit_copy_<bytes>(from, other, to, rows, columns, others, damage, amount, format, least)
// for elements of these sizes in bytes. `others`: elements of `other`; `format`: damage_format(); `least`: replaces
// zero in an integer input.
std::string damage_source(const std::vector<size_t>& sizes);
int damage_format(core::DType dtype);

// Significand bits after the leading one; 0 for integers.
int significand_bits(core::DType dtype);

}  // namespace verifier::audit
