// A device's measured figures applied to a problem: the bound that scores are shares of, and the floor below
// which a time is no record but an alarm.
#pragma once

#include <optional>

#include "benchsuite/problem.h"
#include "verifier/verdicts/calibration.h"
#include "verifier/verdicts/judgement.h"

namespace verifier::verdicts {

// How the times were taken.
struct Conditions {
  bool cold = true;       // nothing of the inputs is in L2 when a launch begins; otherwise as much of them as fits
  bool absolute = false;  // a launch's own time is part of them (not where that of an empty pair was taken off)
};

struct Bound {
  double nominal_us = 0;  // max(flops / peak of the contract's type, bytes / bandwidth): what a very good kernel takes
  double floor_us = 0;    // what no kernel can be faster than
  bool by_compute = false;  // the arithmetic takes longer than the memory
};

// FLOP/s that bounds are made of; nothing where the arithmetic is no reason for one.
std::optional<double> peak_flop_s(const benchsuite::Problem& problem, const core::Bindings& axes,
                                  const Calibration& calibration);

// For a problem at these axes, which must have been validated for it. The peak is that of the largest floating input
// (of several as large, the slower): tensor cores for f16, bf16 and (twice as fast from sm_89 on) formats of 8 bits,
// and for f32 where the contract allows TF32, otherwise the plain one, or in products of matrices a sixth of that of
// bf16 if that is faster (three bf16 hold an f32); fp64 where sums are kept in it. Where sums are integers there is
// none, but for products of i8: twice that of f16. Memory goes at the fastest rate seen, of reading, writing or
// copying. The floor: what must come from memory, at most what the inputs hold, and what is written beyond L2, at the
// fastest rate ever seen.
Bound bound_of(const benchsuite::Problem& problem, const core::Bindings& axes, const Calibration& calibration,
               const Conditions& conditions = {});

// Below 0.95 of the floor: such a time is refused.
bool too_fast(double time_us, const Bound& bound);
// Below 1.1 of the floor, or more than ten times as fast as the incumbent: believed after full confirmation only.
bool suspicious(double time_us, double speed_up, const Bound& bound);

enum class Plausibility { plausible, suspicious, too_fast };

// Gives every timing its bound, and holds the times of a correct candidate against the floor: one that is too fast gets
// the verdict TooFast and loses its measurement. A judgement that is not correct, or has no measurement, is plausible
// and stays as it is.
Plausibility hold_against_floor(Judgement& judgement, const benchsuite::Problem& problem,
                                const Calibration& calibration, const Conditions& conditions = {});

}  // namespace verifier::verdicts
