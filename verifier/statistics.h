// What paired timing samples show.
#pragma once

#include <cstdint>
#include <vector>

#include "verifier/measurement.h"

namespace verifier {

double median(std::vector<double> values);  // of a non-empty set

// exp(median of ln(incumbent/candidate)) with a 99 % moving-block-bootstrap interval of the median (Künsch 1989):
// blocks keep the correlation of neighbouring samples. `seed` fixes the resampling. Needs at least one pair.
SpeedUp estimate_speed_up(const std::vector<Pair>& pairs, uint64_t seed);

// Geometric mean. The logarithmic half-widths add in quadrature, as of independent estimates.
SpeedUp combine(const std::vector<SpeedUp>& parts);

// WIN when the whole interval lies above 1/0.995, LOSS when below 0.995, otherwise TIE.
Outcome decide(const SpeedUp& speed_up);

}  // namespace verifier
