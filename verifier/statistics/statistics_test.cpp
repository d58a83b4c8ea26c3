#include "verifier/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace verifier::statistics {
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

// The ranks agree with tables of the sign test, two-sided 1 %.
TEST(Statistics, TheIntervalOfAMedianLiesBetweenOrderStatistics) {
  std::vector<double> values;
  for (const int n : {1, 7, 8, 12, 15, 31, 61}) {
    values.resize(static_cast<size_t>(n));
    std::iota(values.rbegin(), values.rend(), 1.0);
    const Interval interval = median_with_interval(values);
    const std::map<int, double> lowest{{1, 1}, {7, 1}, {8, 1}, {12, 2}, {15, 3}, {31, 8}, {61, 21}};
    EXPECT_EQ(interval.value, (n + 1) / 2.0) << n;
    EXPECT_EQ(interval.low, lowest.at(n)) << n;
    EXPECT_EQ(interval.high, n + 1 - lowest.at(n)) << n;
  }
}

TEST(Statistics, TheIntervalHoldsTheTruth) {
  int inside = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const SpeedUp s = estimate_speed_up(simulate(1.5, 0.02, 31, seed));
    EXPECT_LE(s.low, s.value);
    EXPECT_LE(s.value, s.high);
    inside += s.low <= 1.5 && 1.5 <= s.high;
  }
  EXPECT_GE(inside, 94);
}

TEST(Statistics, TheSameKernelDoesNotWinUnderDrift) {
  int wins = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    wins += decide(estimate_speed_up(simulate(1.0, 0.005, 31, seed))) == Outcome::win;
  }
  EXPECT_LE(wins, 2);
}

TEST(Statistics, ATrueTwoPercentIsFound) {
  int wins = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    wins += decide(estimate_speed_up(simulate(1.02, 0.005, 31, seed))) == Outcome::win;
  }
  EXPECT_GE(wins, 95);
}

// A realistic machine: a ramp of 2 % over the samples, the second of a pair 0.3 % slower, correlated noise with a heavy
// tail, and one sample in 20 disturbed.
std::vector<Pair> rough_machine(double true_speed_up, int count, uint64_t seed) {
  std::mt19937_64 chance(seed);
  std::normal_distribution<double> normal(0, 0.006);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Pair> pairs;
  double wander = 0;
  for (int i = 0; i < count; ++i) {
    wander = 0.7 * wander + normal(chance);
    const bool candidate_first = unit(chance) < 0.5;
    const auto sample = [&](double time_us, bool first) {
      const double disturbed = unit(chance) < 0.05 ? 1 + unit(chance) : 1;
      return time_us * (1 + 0.02 * i / count) * std::exp(wander + normal(chance)) * (first ? 1 : 1.003) * disturbed;
    };
    pairs.push_back({sample(1000 / true_speed_up, candidate_first), sample(1000, !candidate_first), candidate_first});
  }
  return pairs;
}

// Ends like a timing (verifier/judging/paired_timing.cpp), at a lucky moment if there is one.
SpeedUp with_early_end(const std::vector<Pair>& pairs) {
  for (size_t n = 15;; n = std::min(n + 8, pairs.size())) {
    const SpeedUp so_far = estimate_speed_up({pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(n)});
    if (n == pairs.size() || std::log(so_far.high / so_far.low) / 2 <= 0.004) return so_far;
  }
}

TEST(Statistics, ARoughMachineAndAnEarlyEndMakeNoWinner) {
  constexpr int kRounds = 120;
  int wins = 0, losses = 0, found = 0;
  for (uint64_t seed = 0; seed < kRounds; ++seed) {
    const Outcome outcome = decide(with_early_end(rough_machine(1, 61, seed)));
    wins += outcome == Outcome::win;
    losses += outcome == Outcome::loss;
    found += decide(with_early_end(rough_machine(1.04, 61, seed))) == Outcome::win;
  }
  EXPECT_LE(wins, 1);
  EXPECT_LE(losses, 1);
  EXPECT_GE(found, kRounds * 9 / 10);
}

TEST(Statistics, TheSidesAreSymmetric) {
  std::vector<Pair> pairs = rough_machine(1.3, 31, 5), swapped;
  for (const Pair& pair : pairs) swapped.push_back({pair.incumbent_us, pair.candidate_us, !pair.candidate_first});
  const SpeedUp one = estimate_speed_up(pairs), other = estimate_speed_up(swapped);
  EXPECT_NEAR(one.value * other.value, 1, 1e-12);
  EXPECT_NEAR(one.low * other.high, 1, 0.003);
  EXPECT_EQ(decide(one), Outcome::win);
  EXPECT_EQ(decide(other), Outcome::loss);
}

// Each early end is a chance to err.
TEST(Statistics, TheIntervalOfAnEarlyEndHoldsTheTruth) {
  constexpr int kRounds = 300;
  int inside = 0;
  for (uint64_t seed = 0; seed < kRounds; ++seed) {
    const SpeedUp s = with_early_end(rough_machine(1, 61, seed));
    inside += s.low <= 1 && 1 <= s.high;
  }
  EXPECT_GE(inside, kRounds * 99 / 100);
}

// A disturbance that lasts for several pairs and slows one side.
TEST(Statistics, CorrelatedPairsWidenTheInterval) {
  std::vector<Pair> lasting;
  for (int i = 0; i < 60; ++i) lasting.push_back({100, i < 30 ? 100.0 + 2 * i : 160.0 - 2 * i, true});
  const auto width = [](const std::vector<Pair>& pairs) {
    const SpeedUp s = estimate_speed_up(pairs);
    return s.high - s.low;
  };
  std::vector<Pair> shuffled = lasting;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(1));
  EXPECT_GT(width(lasting), 1.5 * width(shuffled));
}

TEST(Statistics, LessThanHalfAPercentIsATie) {
  EXPECT_EQ(decide({1.004, 1.003, 1.0045}), Outcome::tie);
  EXPECT_EQ(decide({1.02, 1.001, 1.04}), Outcome::tie);
  EXPECT_EQ(decide({1.02, 1.006, 1.04}), Outcome::win);
  EXPECT_EQ(decide({0.98, 0.97, 0.994}), Outcome::loss);
  EXPECT_EQ(decide({0.997, 0.996, 0.998}), Outcome::tie);
}

TEST(Statistics, OnePairGivesItsRatio) {
  const SpeedUp single = estimate_speed_up({{50, 100, true}});
  EXPECT_DOUBLE_EQ(single.value, 2);
  EXPECT_DOUBLE_EQ(single.low, 2);
  EXPECT_DOUBLE_EQ(single.high, 2);
}

TEST(Statistics, OneWildSampleChangesLittle) {
  std::vector<Pair> pairs = simulate(1.0, 0.001, 31, 1);
  pairs[7].candidate_us *= 100;
  EXPECT_NEAR(estimate_speed_up(pairs).value, 1.0, 0.003);
}

// Three pairs at the same clock show a tie; two, whose candidate ran at a higher clock, would show 1.2.
TEST(Statistics, PairsAtDifferentClocksAreLeftOut) {
  std::vector<Pair> pairs{{100, 100, true, 1980, 1980}, {100, 100, false, 1980, 1965}, {100, 100, true, 1700, 1700}};
  const Pair disturbed{100, 120, false, 1980, 1950}, known_on_one_side{100, 100, true, 1980, 0};
  pairs.insert(pairs.end(), {disturbed, disturbed});
  EXPECT_EQ(steady_pairs(pairs).size(), 3u);
  EXPECT_DOUBLE_EQ(estimate_speed_up(pairs).high, 1);
  pairs.insert(pairs.end(), {disturbed, known_on_one_side});
  EXPECT_EQ(steady_pairs(pairs).size(), 4u) << "a clock that is not known is no reason";
  pairs.insert(pairs.end(), {disturbed, disturbed});
  EXPECT_EQ(steady_pairs(pairs).size(), pairs.size()) << "most pairs differ: that is the kernels' own doing";
  EXPECT_DOUBLE_EQ(estimate_speed_up(pairs).high, 1.2);
}

TEST(Statistics, CombiningNarrowsTheInterval) {
  const SpeedUp part{2, 1.9, 2.1};
  const SpeedUp both = combine({{part}, {part}});
  EXPECT_DOUBLE_EQ(both.value, 2);
  EXPECT_GT(both.low, part.low);
  EXPECT_LT(both.high, part.high);
  EXPECT_NEAR(combine({{{2, 2, 2}}, {{0.5, 0.5, 0.5}}}).value, 1, 1e-12);
}

TEST(Statistics, AWeightCountsLikeThatManyWorkloads) {
  const SpeedUp fast{4, 4, 4}, slow{1, 1, 1}, rough{2, 1.6, 2.5};
  EXPECT_NEAR(combine({{fast, 3}, {slow, 1}}).value, combine({{fast}, {fast}, {fast}, {slow}}).value, 1e-12);
  EXPECT_NEAR(combine({{fast, 3}, {slow, 1}}).value, std::pow(4, 0.75), 1e-12);
  const SpeedUp alone = combine({{rough, 7}});  // one estimate stays as wide as it is, whatever its weight
  EXPECT_NEAR(alone.low, rough.low, 1e-12);
  EXPECT_NEAR(alone.high, rough.high, 1e-12);
  EXPECT_GT(combine({{rough, 3}, {rough, 1}}).high, combine({{rough}, {rough}}).high);
}

}  // namespace
}  // namespace verifier::statistics
