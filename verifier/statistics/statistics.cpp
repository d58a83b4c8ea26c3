#include "verifier/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "verifier/statistics/keys.h"

namespace verifier::statistics {
namespace {
constexpr int kResamples = 800;
constexpr double kTail = 0.005;        // on each side of a 99 % interval
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
}  // namespace

std::string_view name_of(Outcome outcome) {
  constexpr std::string_view kNames[] = {"win", "tie", "loss"};
  return kNames[static_cast<size_t>(outcome)];
}

double median(std::vector<double> values) { return median_in_place(values); }

Interval median_with_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  // The number of values below the median is binomial with p = 1/2; leaves out `cut` values at each end.
  size_t cut = 0;
  double probability = std::pow(0.5, static_cast<double>(n)), tail = probability;
  while (2 * (cut + 1) < n) {
    probability *= static_cast<double>(n - cut) / static_cast<double>(cut + 1);
    tail += probability;
    if (tail > kTail) break;
    ++cut;
  }
  return {median(values), values[cut], values[n - 1 - cut]};
}

std::vector<Pair> steady_pairs(const std::vector<Pair>& pairs) {
  std::vector<Pair> kept;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(kept), steady);
  return 2 * kept.size() < pairs.size() ? pairs : kept;
}

SpeedUp estimate_speed_up(const std::vector<Pair>& pairs, uint64_t seed) {
  std::vector<double> logs;
  for (const Pair& pair : steady_pairs(pairs)) logs.push_back(std::log(pair.incumbent_us / pair.candidate_us));
  const size_t n = logs.size();
  const size_t block = std::max<size_t>(1, static_cast<size_t>(std::lround(std::cbrt(static_cast<double>(n)))));
  Keys keys(seed);
  std::vector<double> medians, sample;
  for (int i = 0; i < kResamples; ++i) {
    sample.clear();
    while (sample.size() < n) {
      const size_t begin = keys.below(n);
      for (size_t k = 0; k < block && sample.size() < n; ++k) sample.push_back(logs[(begin + k) % n]);
    }
    medians.push_back(median_in_place(sample));
  }
  std::sort(medians.begin(), medians.end());
  const auto quantile = [&](double q) { return medians[static_cast<size_t>(q * (kResamples - 1) + 0.5)]; };
  const double centre = median(logs);
  return {std::exp(centre), std::exp(std::min(centre, quantile(kTail))),
          std::exp(std::max(centre, quantile(1 - kTail)))};
}

SpeedUp combine(const std::vector<SpeedUp>& parts) {
  double centre = 0, below = 0, above = 0;
  for (const SpeedUp& part : parts) {
    centre += std::log(part.value);
    below += std::pow(std::log(part.value / part.low), 2);
    above += std::pow(std::log(part.high / part.value), 2);
  }
  const auto n = static_cast<double>(std::max<size_t>(1, parts.size()));
  centre /= n;
  return {std::exp(centre), std::exp(centre - std::sqrt(below) / n), std::exp(centre + std::sqrt(above) / n)};
}

Outcome decide(const SpeedUp& speed_up) {
  if (speed_up.low > 1 / kLeastGain) return Outcome::win;
  if (speed_up.high < kLeastGain) return Outcome::loss;
  return Outcome::tie;
}

}  // namespace verifier::statistics
