// Is an output right? Error calibrated against an fp64 reference and the plain kernel that obeys the contract
// (the design page verification.md, "Numbers"). Every comparison is written so that NaN fails it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "core/dtype.h"
#include "verifier/comparison/pattern.h"
#include "verifier/comparison/reduction.h"
#include "verifier/comparison/tiles.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::comparison {

struct Match {
  double ratio = 0;  // the largest error relative to what is allowed, 0 to 1
};

// Facts about an output before any of its elements.
struct OutputForm {
  core::DType dtype;       // of the candidate's and the naive output
  core::DType accumulate;  // the contract's
  Tiling tiling;
  Reduction reduction;    // what this output sums
  std::string name = {};  // for the failure, as is `where`
  verdicts::Where where = {};
  std::vector<int64_t> shape = {};  // to say in what pattern it is wrong; may be absent
  // Inputs may pass what the naive solution can do: nothing is demanded of tiles where it overflows, or errs by a tenth
  // of the tile's scale.
  bool may_overflow = false;
  double reference_error = 0;  // by which the reference itself may be off; always allowed
  // A library that people use, whose operators may each round their result to the output's dtype.
  bool of_library = false;
};

// The elements themselves, asked for only once a failure is certain.
struct SecondLook {
  struct Element {
    double expected = 0, got = 0;
  };
  std::function<Element(int64_t index)> element;
  // How many elements err by more than their tile is allowed (one entry a tile).
  std::function<int64_t(const std::vector<double>& allowed)> count_wrong;
  // In what pattern they are wrong; without `allowed`, whatever is not right to the last bit. `worst`: an element's
  // index. May be absent.
  std::function<std::optional<verdicts::Pattern>(const std::vector<double>& allowed, int64_t worst)> pattern = {};
};

// The decision about a floating output from its tiles' statistics: Match, or the first of WrongNonFinite, WrongResult
// (of the worst element). `neighbours`: naive_tiles for inputs close by (draws::jitter_input, draws/neighbours.h).
//
// Allowed, with r the reference, b the naive output, s the RMS of r's tile:
//   RMS(y - r) <= t_rms RMS(b - r) + u      over all elements; 1.25 RMS(b - r) + u/50 where at least 4096 of them are
//                                           stored in a narrower type than sums are kept in, except by a library
//   RMS(y - r) <= t_rms max(3 RMS(b - r), worst tile's RMS(b - r)) + u    over each tile, the naive errors relative to
//                                                                         their tiles' scales
//   |y - r|    <= t_max max(|b - r| / s) s + u
// with (t_rms, t_max) = (4, 8) for f32 and f64, (2, 4) for narrower ones (10 for 8 where the contract gives sums of
// more than 4096 terms: a running sum carries the errors of larger ones before it; 32 where terms are rounded alike:
// then its error grows with the number of its steps, which an honest one may have eight times as many of as naive), and
// u one ulp of the output at s (four in outputs of fewer than 64 elements), or what an honest sum errs by
// (rounding_of_sums) if that is more (of a single element, where terms are rounded alike, at the tile's largest r
// instead of s), or (for f32 and bf16) the least normal f32 times the root of the terms of a sum, since float atomics
// flush what is smaller, or reference_error. Naive errors are the largest over the expected run and its neighbours: one
// error in a mean or a sum moves its whole row, so that the naive error of a single row is a single number, which may
// be small by luck. In a tile whose r are all zero (s = 0: what cancels) t_rms RMS(b - r) and t_max max |b - r| of that
// tile stand for the first terms.
//
// An element of an output of 16 bits that errs by no more than 33/32 of half a step there is right.
//
// An output of 8 bits is held against r as its dtype saturates it, and the errors of its elements, |y - r| and
// max(|b - r|), count beyond half a step of the dtype at r: the one rounding is of their own size, not of s. Where
// y - r is no more than 33/32 of that, y is right. Then u is a 64th of the above for sums, and
// of the least step for single terms.
//
// Copies of 64 elements and more (nothing is summed, and the naive solution errs in none) must be right in each of
// them, to the last bit.
//
// NaN and infinity must stand where r has them, and where r passes the largest number of the dtype; of 8 bits the
// largest number may, too, and NaN where f8e4m3 has no infinity. Where the naive
// solution itself overflows on the way, both its value and the finite right one will do.
std::variant<Match, verdicts::Verdict> decide(const OutputForm& form, const std::vector<TileErrors>& tiles,
                                              const std::vector<std::vector<NaiveTile>>& neighbours,
                                              const SecondLook& look);

// The decision about an output that must be right to the last bit: Match, or WrongResult of the first element that is
// not.
std::variant<Match, verdicts::Verdict> decide_exactly(const OutputForm& form, const std::vector<TileMismatches>& tiles,
                                                      const SecondLook& look);

// An output's shape at these axes.
std::vector<int64_t> extents(const benchsuite::Tensor& tensor, const core::Bindings& axes);

// SecondLook::pattern of an output in host memory. nullopt also where the form has no shape.
std::optional<verdicts::Pattern> pattern_in(const OutputForm& form, std::span<const std::byte> output,
                                            std::span<const std::byte> reference, const std::vector<double>& allowed,
                                            int64_t worst);

// Statistics and decision of an output in host memory. `exact`: bit for bit, as integers always are. `neighbours`: as
// decide takes them.
std::variant<Match, verdicts::Verdict> compare(const OutputForm& form, bool exact, std::span<const std::byte> output,
                                               const NaiveRun& expected,
                                               const std::vector<std::vector<NaiveTile>>& neighbours);

// Whether a single element of an output is wrong, and by no more than one unit in the last place of `dtype`. Attention
// kernels may round weights to the dtype of their output. Where one weight times an outlier makes an element, that
// rounding is its whole error, and naive's rounding of the same weight may happen to be much smaller.
bool is_one_more_rounding(const verdicts::WrongResult& wrong, core::DType dtype);

struct Comparison {
  core::DType dtype;                  // of the candidate's and the naive output
  core::DType accumulate;             // the contract's
  size_t columns = 1;                 // length of a row
  Reduction reduction;                // what this output sums
  bool exact = false;                 // bit for bit: the exact battery
  std::span<const std::byte> output;  // the candidate's
  NaiveRun expected;                  // for the same inputs
  std::vector<NaiveRun> neighbours;   // for inputs close by (draws/neighbours.h)
  std::vector<int64_t> shape = {};    // to say in what pattern it is wrong; may be absent
  bool may_overflow = false;          // see OutputForm
  bool of_library = false;            // the same
};

// Statistics and decision of an output in host memory. Integers are compared bit for bit, too.
std::variant<Match, verdicts::Verdict> compare(const Comparison& comparison, const std::string& name,
                                               const verdicts::Where& where);

}  // namespace verifier::comparison
