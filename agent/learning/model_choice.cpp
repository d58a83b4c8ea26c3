#include "agent/learning/model_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace agent::learning {
namespace {
constexpr double kExploration = 1;
constexpr double kMostKnown = 2;  // requests that earlier campaigns count for: other problems may be different
}  // namespace

ModelChoice::ModelChoice(size_t models, std::vector<KnownModel> known) : arms_(models) {
  known.resize(models);
  for (size_t i = 0; i < models; ++i) {
    const KnownModel& of = known[i];
    arms_[i].usual_cost = of.usual_cost;
    if (of.requests <= 0 || of.cost <= 0) continue;
    const double share = std::min(1.0, kMostKnown / of.requests);
    arms_[i].answered = share * of.requests;
    arms_[i].gain = share * of.gain;
    arms_[i].cost = share * of.cost;
  }
}

ModelChoice::Choice ModelChoice::choose() {
  double least_cost = std::numeric_limits<double>::max(), best_rate = 0, all = 0;
  for (const Arm& arm : arms_) {
    least_cost = std::min(least_cost, arm.mean_cost());
    best_rate = std::max(best_rate, arm.rate());
    all += arm.spent();
  }
  Choice choice;
  double highest = -1;
  for (size_t i = 0; i < arms_.size(); ++i) {
    const Arm& arm = arms_[i];
    const double trials = arm.spent() / least_cost;
    const double worth = trials == 0 ? std::numeric_limits<double>::max()
                                     : (best_rate > 0 ? arm.rate() / best_rate : 0) +
                                           kExploration * std::sqrt(std::log(all / least_cost + 1) / trials);
    if (worth <= highest) continue;
    highest = worth;
    const bool gains_most = best_rate > 0 && arm.rate() == best_rate;
    choice = {i, trials == 0 ? ModelReason::first : gains_most ? ModelReason::gain : ModelReason::curiosity};
  }
  ++arms_[choice.model].in_flight;
  return choice;
}

void ModelChoice::learn(size_t model, double gain, double cost) {
  Arm& arm = arms_[model];
  arm.in_flight = std::max(0.0, arm.in_flight - 1);
  ++arm.answered;
  arm.gain += gain;
  arm.cost += cost;
}

}  // namespace agent::learning
