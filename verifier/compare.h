// Is an output right? Error calibrated against an fp64 reference and the plain kernel that obeys the contract
// (the design page verification.md, "Numbers"). Every comparison is written so that NaN fails it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/dtype.h"
#include "verifier/reduction.h"
#include "verifier/verdict.h"

namespace verifier {

// The naive solution's output for some inputs, and the reference's.
struct NaiveRun {
  std::span<const std::byte> reference;  // double for floating dtypes, otherwise the output's dtype
  std::span<const std::byte> naive;      // in the output's dtype
};

struct Comparison {
  core::DType dtype;                  // of the candidate's and the naive output
  core::DType accumulate;             // the contract's
  size_t columns = 1;                 // length of a row: the unit of scale
  Reduction reduction;                // what this output sums
  bool exact = false;                 // bit for bit: the exact battery
  std::span<const std::byte> output;  // the candidate's
  NaiveRun expected;                  // for the same inputs
  std::vector<NaiveRun> neighbours;   // for inputs close by (jitter_input); wanted where the output has few rows
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
// with (t_rms, t_max) = (4, 8) for f32 and f64, (2, 4) for f16 and bf16, and u one ulp of the output at s (four in
// outputs of fewer than 64 elements), or the honest_error of the reduction if that is more. Naive errors are the
// largest over the expected run and its neighbours: one error in a mean or a sum moves its whole row, so that the naive
// error of a single row is a single number, which may be small by luck. Rows are tiles of 32 to 4096 elements: short
// rows together, long ones cut.
//
// NaN and infinity must stand where r has them, and where r passes the largest number of the dtype. Where the naive
// solution itself overflows on the way, both its value and the finite right one will do.
std::variant<Match, Verdict> compare(const Comparison& comparison, const std::string& name, const Where& where);

}  // namespace verifier
