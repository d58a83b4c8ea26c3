// Is an output right? Error calibrated against an fp64 reference and the plain kernel that obeys the contract
// (the design page verification.md, "Numbers"). Every comparison is written so that NaN fails it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "core/dtype.h"
#include "verifier/reduction.h"
#include "verifier/verdict.h"

namespace verifier {

struct Comparison {
  core::DType dtype;                     // of the candidate's and the naive output
  core::DType accumulate;                // the contract's
  size_t columns = 1;                    // length of a row: the unit of scale
  Reduction reduction;                   // what this output sums
  bool exact = false;                    // bit for bit: the exact battery
  std::span<const std::byte> output;     // the candidate's
  std::span<const std::byte> reference;  // double for floating dtypes, otherwise `dtype`
  std::span<const std::byte> naive;      // in `dtype`
};

struct Match {
  double ratio = 0;  // the largest error relative to what is allowed, 0 to 1
};

// Match, or the first of: WrongNonFinite, WrongResult (of the worst element). `where` and `name` go into the failure.
//
// Allowed for floating outputs, with r the reference, b the naive output, s the RMS of r's row:
//   RMS(y - r) <= t_rms RMS(b - r) + u      over all elements
//   RMS(y - r) <= 3 t_rms RMS(b - r) + u    over each row, the naive error taken over all rows relative to their scale
//   |y - r|    <= t_max max(|b - r| / s) s + u
// with (t_rms, t_max) = (4, 8) for f32 and f64, (2, 4) for f16 and bf16, and u one ulp of the output at s, or the
// honest_error of the reduction if that is more: where few outputs sum many inputs, the naive order may happen to be
// lucky. Rows are tiles of 32 to 4096 elements: short rows together, long ones cut.
//
// NaN and infinity must stand where r has them, and where r passes the largest number of the dtype. Where the naive
// solution itself overflows on the way, both its value and the finite right one will do.
std::variant<Match, Verdict> compare(const Comparison& comparison, const std::string& name, const Where& where);

}  // namespace verifier
