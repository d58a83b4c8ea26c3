#include "agent/search/bandit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace agent::search {
namespace {
constexpr double kCuriosity = 0.5;
}

size_t Bandit::choose(const std::vector<bool>& allowed) {
  double best_rate = 0, all = 0;
  for (const Arm& arm : arms_) best_rate = std::max(best_rate, arm.rate()), all += arm.chosen;
  size_t chosen = 0;
  double highest = -1;
  for (size_t i = 0; i < arms_.size(); ++i) {
    if (!allowed.empty() && !allowed[i]) continue;
    const Arm& arm = arms_[i];
    const double value = arm.chosen == 0 ? std::numeric_limits<double>::max()
                                         : (best_rate > 0 ? arm.rate() / best_rate : 0) +
                                               kCuriosity * std::sqrt(std::log(all + 1) / arm.chosen);
    if (value > highest) highest = value, chosen = i;
  }
  ++arms_[chosen].chosen;
  return chosen;
}

void Bandit::learn(size_t arm, double gain, double cost) {
  arms_[arm].gain += gain;
  arms_[arm].cost += cost;
}

}  // namespace agent::search
