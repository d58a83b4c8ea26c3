#include "agent/search/strategies.h"

#include "core/error.h"
#include "core/text.h"

namespace agent::search {

const std::vector<std::string>& strategy_names() {
  static const std::vector<std::string> names{"best_of_n", "evolve", "refine", "tune"};
  return names;
}

std::unique_ptr<Strategy> make_strategy(const std::string& name, const StrategySettings& settings) {
  if (name == "best_of_n") return make_best_of_n(settings);
  if (name == "evolve") return make_evolve(settings);
  if (name == "refine") return make_refine(settings);
  if (name == "tune") return make_tune(settings);
  throw core::InputError("--strategy", "is \"" + name + "\"", core::join(strategy_names(), ", "));
}

}  // namespace agent::search
