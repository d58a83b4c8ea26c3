#include "verifier/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace verifier {
namespace {

// Pairs with 2 % slow drift shared by both sides and `noise` of relative noise on each.
std::vector<Pair> simulate(double true_speed_up, double noise, int count, uint64_t seed) {
  std::mt19937_64 chance(seed);
  std::normal_distribution<double> normal(0, noise);
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i) {
    const double drift = 1 + 0.02 * std::sin(i * 0.3);
    pairs.push_back(
        {1000 / true_speed_up * drift * std::exp(normal(chance)), 1000 * drift * std::exp(normal(chance)), true});
  }
  return pairs;
}

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Statistics, TheIntervalHoldsTheTruth) {
  int inside = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const SpeedUp s = estimate_speed_up(simulate(1.5, 0.02, 31, seed), seed);
    EXPECT_LE(s.low, s.value);
    EXPECT_LE(s.value, s.high);
    inside += s.low <= 1.5 && 1.5 <= s.high;
  }
  EXPECT_GE(inside, 94);
}

TEST(Statistics, TheSameKernelDoesNotWinUnderDrift) {
  int wins = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    wins += decide(estimate_speed_up(simulate(1.0, 0.005, 31, seed), seed)) == Outcome::win;
  }
  EXPECT_LE(wins, 2);
}

TEST(Statistics, ATrueTwoPercentIsFound) {
  int wins = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    wins += decide(estimate_speed_up(simulate(1.02, 0.005, 31, seed), seed)) == Outcome::win;
  }
  EXPECT_GE(wins, 95);
}

TEST(Statistics, OneWildSampleChangesLittle) {
  std::vector<Pair> pairs = simulate(1.0, 0.001, 31, 1);
  pairs[7].candidate_us *= 100;
  EXPECT_NEAR(estimate_speed_up(pairs, 1).value, 1.0, 0.003);
}

TEST(Statistics, CombiningNarrowsTheInterval) {
  const SpeedUp part{2, 1.9, 2.1};
  const SpeedUp both = combine({part, part});
  EXPECT_DOUBLE_EQ(both.value, 2);
  EXPECT_GT(both.low, part.low);
  EXPECT_LT(both.high, part.high);
  EXPECT_NEAR(combine({{2, 2, 2}, {0.5, 0.5, 0.5}}).value, 1, 1e-12);
}

}  // namespace
}  // namespace verifier
