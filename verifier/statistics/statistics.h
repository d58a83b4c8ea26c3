// Statistics of paired timing samples.
#pragma once

#include <cstdint>
#include <vector>

#include "core/enum_names.h"

namespace verifier::statistics {

enum class Outcome { win, tie, loss };
KW_ENUM_NAMES(Outcome, win, tie, loss)

// One pair: both sides ran on the same inputs, one right after the other, in random order. Microseconds.
struct Pair {
  double candidate_us = 0, incumbent_us = 0;
  bool candidate_first = false;
  float candidate_mhz = 0, incumbent_mhz = 0;  // multiprocessor clock during each; 0: unknown
  bool throttled = false;                      // the device was throttled during either
};

// exp of the median log-ratio incumbent/candidate, with its 99 % interval. Above 1: the candidate is faster.
struct SpeedUp {
  double value = 1, low = 1, high = 1;
};

struct Interval {
  double value = 0, low = 0, high = 0;
};

double median(std::vector<double> values);  // of a non-empty set of values
// The median of a non-empty set, and the order statistics that contain it with 99 % probability for independent values;
// the whole range for fewer than 8 values.
Interval median_with_interval(std::vector<double> values);

// The pairs whose two sides ran at clocks within 1 % of each other, if known. All pairs if that leaves fewer than half:
// then the kernels themselves lower the clock, and the loss counts as theirs.
std::vector<Pair> steady_pairs(const std::vector<Pair>& pairs);

// Uses the steady pairs: exp(median of ln(incumbent/candidate)), and the order statistics that contain it with 99 %
// probability. Neighbouring pairs that lie on the same side of the median more often than by chance count as fewer
// independent ones. In simulations with early ends this interval holds the truth in 99 % of sessions with independent
// noise and in 97 % with a correlation of 0.7; a moving-block bootstrap (Künsch 1989) did in 90 % and 87 %. Needs at
// least one pair.
SpeedUp estimate_speed_up(const std::vector<Pair>& pairs);

// A speed-up at one of several workloads, and how much it counts there. The weight is above 0.
struct WeightedSpeedUp {
  SpeedUp speed_up;
  double weight = 1;
};

// Geometric mean by weight. The logarithmic half-widths add in quadrature, as for independent estimates.
SpeedUp combine(const std::vector<WeightedSpeedUp>& parts);

// WIN when the whole interval lies above 1/0.995, LOSS when below 0.995, otherwise TIE.
Outcome decide(const SpeedUp& speed_up);

}  // namespace verifier::statistics
