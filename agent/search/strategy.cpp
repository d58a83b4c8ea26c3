#include "agent/search/strategy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text.h"

namespace agent::search {
namespace {
constexpr double kCuriosity = 0.5;

class BestOfN : public Strategy {
 public:
  std::optional<Inquiry> next(const Population&) override { return Inquiry{prompting::Operator::fresh, {}, 0}; }
  void learned(const Inquiry&, const Population&, const Yield&) override {}
};

// Asks no model at all: the built-in tuner sweeps the known solutions.
class Tune : public Strategy {
 public:
  std::optional<Inquiry> next(const Population&) override { return std::nullopt; }
  void learned(const Inquiry&, const Population&, const Yield&) override {}
};
}  // namespace

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names{"best_of_n", "evolve", "refine", "tune"};
  return names;
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const StrategySettings& settings) {
  if (name == "best_of_n") return std::make_unique<BestOfN>();
  if (name == "evolve") return make_evolve(settings);
  if (name == "refine") return make_refine(settings);
  if (name == "tune") return std::make_unique<Tune>();
  throw core::InputError("--strategy", "is \"" + name + "\"", core::join(strategy_names(), ", "));
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
