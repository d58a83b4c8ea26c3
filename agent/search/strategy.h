// Decides what to ask a model next: a strategy reads the population and chooses a task and its parents.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/prompting/facts.h"
#include "agent/search/population.h"

namespace agent::search {

struct Inquiry {
  prompting::Operator task = prompting::Operator::fresh;
  std::vector<size_t> parents;  // members; as many as the task needs
  int line = 0;                 // line of descent, or island, of its children
};

// The result of an inquiry.
struct Yield {
  std::vector<size_t> members;  // new and judged; none: the reply was unusable or nothing new
  double gain = 0;              // log of how much faster the best of the line became; 0: not at all
  double cost = 1;              // Answered::cost
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // nullopt: wait for requests in flight; with none in flight, the strategy has ended. Deterministic: the same calls
  // give the same choices.
  virtual std::optional<Inquiry> next(const Population& population) = 0;
  virtual void learned(const Inquiry& inquiry, const Population& population, const Yield& yield) = 0;
};

struct StrategySettings {
  uint64_t seed = 0;
  int lines = 1;  // lines of descent, or islands
};

// best_of_n: fresh solutions only. refine: each line improves its best solution step by step. evolve: islands of
// solutions that differ in kind, crossed and improved. tune: asks no model; the built-in tuner works alone. Throws
// core::InputError for another name.
std::unique_ptr<Strategy> make_strategy(const std::string& name, const StrategySettings& settings);
const std::vector<std::string>& strategy_names();

// The strategies with their own files.
std::unique_ptr<Strategy> make_refine(const StrategySettings& settings);
std::unique_ptr<Strategy> make_evolve(const StrategySettings& settings);

// Chooses one of several arms: the one that gained most for its cost, or the least known one. UCB1 (Auer, Cesa-Bianchi,
// Fischer 2002) over gain per cost, scaled by the best arm's.
class Bandit {
 public:
  explicit Bandit(size_t arms) : arms_(arms) {}

  // Chooses among the allowed arms (all when empty), the lowest index among equals. At least one must be allowed.
  size_t choose(const std::vector<bool>& allowed = {});
  // `cost` above 0.
  void learn(size_t arm, double gain, double cost);

 private:
  struct Arm {
    double chosen = 0, gain = 0, cost = 0;
    double rate() const { return cost > 0 ? gain / cost : 0; }
  };
  std::vector<Arm> arms_;
};

}  // namespace agent::search
