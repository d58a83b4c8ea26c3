#include "verifier/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace verifier::statistics {
namespace {
constexpr double kTail = 0.005;               // on each side of a 99 % interval
constexpr double kTailOfSpeedUp = kTail / 2;  // timing looks at its interval several times, and may end at a lucky one
constexpr double kMostCorrelation = 0.8;
constexpr double kLeastGain = 0.995;   // a change below half a percent is no change
constexpr float kSteadyClock = 0.01f;  // the largest difference between the clocks of a pair

bool steady(const Pair& pair) {
  if (pair.candidate_mhz <= 0 || pair.incumbent_mhz <= 0) return true;  // not known
  return std::abs(pair.candidate_mhz - pair.incumbent_mhz) <=
         kSteadyClock * std::max(pair.candidate_mhz, pair.incumbent_mhz);
}

double median_in_place(std::vector<double>& values) {
  const size_t middle = values.size() / 2;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) return *at;
  return (*at + *std::max_element(values.begin(), at)) / 2;
}

// How many of n independent values to leave out at each end, so that the median lies beyond the rest on one side with a
// probability of `most_tail` at most: the number of values below it is binomial with p = 1/2.
size_t left_out(size_t n, double most_tail) {
  size_t cut = 0;
  double probability = std::pow(0.5, static_cast<double>(n)), tail = probability;
  while (2 * (cut + 1) < n) {
    probability *= static_cast<double>(n - cut) / static_cast<double>(cut + 1);
    tail += probability;
    if (tail > most_tail) break;
    ++cut;
  }
  return cut;
}

// The share of values that count as independent: (1 - r) / (1 + r), with r the correlation of neighbours' sides of the
// centre, corrected for the few values that it is estimated from.
double independent_share(const std::vector<double>& values, double centre) {
  const size_t n = values.size();
  if (n < 2) return 1;
  const auto side = [&](size_t i) { return values[i] > centre ? 1.0 : values[i] < centre ? -1.0 : 0.0; };
  double together = 0;
  for (size_t i = 0; i + 1 < n; ++i) together += side(i) * side(i + 1);
  const double correlation =
      std::clamp(together / static_cast<double>(n - 1) + 1 / static_cast<double>(n), 0.0, kMostCorrelation);
  return (1 - correlation) / (1 + correlation);
}
}  // namespace

double median(std::vector<double> values) { return median_in_place(values); }

Interval median_with_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size(), cut = left_out(n, kTail);
  return {median(values), values[cut], values[n - 1 - cut]};
}

std::vector<Pair> steady_pairs(const std::vector<Pair>& pairs) {
  std::vector<Pair> kept;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(kept), steady);
  return 2 * kept.size() < pairs.size() ? pairs : kept;
}

SpeedUp estimate_speed_up(const std::vector<Pair>& pairs) {
  std::vector<double> logs;
  for (const Pair& pair : steady_pairs(pairs)) logs.push_back(std::log(pair.incumbent_us / pair.candidate_us));
  const double centre = median(logs), independent = independent_share(logs, centre);
  const size_t n = logs.size();
  const size_t few = left_out(static_cast<size_t>(static_cast<double>(n) * independent), kTailOfSpeedUp);
  const auto cut = static_cast<size_t>(static_cast<double>(few) / independent);
  std::sort(logs.begin(), logs.end());
  const size_t low = std::min(cut, (n - 1) / 2);
  return {std::exp(centre), std::exp(logs[low]), std::exp(logs[n - 1 - low])};
}

SpeedUp combine(const std::vector<WeightedSpeedUp>& parts) {
  if (parts.empty()) return {};
  double total = 0, centre = 0, below = 0, above = 0;
  for (const auto& [part, weight] : parts) {
    total += weight;
    centre += weight * std::log(part.value);
    below += std::pow(weight * std::log(part.value / part.low), 2);
    above += std::pow(weight * std::log(part.high / part.value), 2);
  }
  centre /= total;
  return {std::exp(centre), std::exp(centre - std::sqrt(below) / total), std::exp(centre + std::sqrt(above) / total)};
}

Outcome decide(const SpeedUp& speed_up) {
  if (speed_up.low > 1 / kLeastGain) return Outcome::win;
  if (speed_up.high < kLeastGain) return Outcome::loss;
  return Outcome::tie;
}

}  // namespace verifier::statistics
