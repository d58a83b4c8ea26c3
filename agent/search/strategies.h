// Each strategy by itself, and what they share.
#pragma once

#include <memory>

#include "agent/search/bandit.h"
#include "agent/search/strategy.h"

namespace agent::search {

std::unique_ptr<Strategy> make_best_of_n(const StrategySettings& settings);
std::unique_ptr<Strategy> make_refine(const StrategySettings& settings);
std::unique_ptr<Strategy> make_evolve(const StrategySettings& settings);
std::unique_ptr<Strategy> make_tune(const StrategySettings& settings);

}  // namespace agent::search
