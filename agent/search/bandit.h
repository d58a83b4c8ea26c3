// Which of several arms to pull: the one that has given most for what it cost, or that is known least.
#pragma once

#include <cstddef>
#include <vector>

namespace agent::search {

// UCB1 (Auer, Cesa-Bianchi, Fischer 2002) over gain per cost, scaled by the best arm's.
class Bandit {
 public:
  explicit Bandit(size_t arms) : arms_(arms) {}

  // Of the arms that are allowed (all when empty); the lowest index among equals. At least one must be allowed.
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
