// Which of a campaign's models is asked next: the one that gains most for its cost, or one on which little was spent.
#pragma once

#include <cstddef>
#include <vector>

#include "core/enum_names.h"

namespace agent::learning {

// What is known of a model when a search begins. Costs of all models are in one unit.
struct KnownModel {
  double usual_cost = 1;                    // of a request, while it has had none
  double requests = 0, gain = 0, cost = 0;  // of earlier campaigns, all of them together
};

enum class ModelReason {
  first,      // it was never asked
  gain,       // it gained most for its cost
  curiosity,  // little was spent on it
};
KW_ENUM_NAMES(ModelReason, first, gain, curiosity)

// UCB1 (Auer, Cesa-Bianchi, Fischer 2002) over gain per cost, scaled by the best model's. A trial is not a request but
// the cost of one to the model whose requests cost least, so that models without a gain get the same money, not the
// same number of requests.
class ModelChoice {
 public:
  // Models without an entry are not known.
  explicit ModelChoice(size_t models, std::vector<KnownModel> known = {});

  struct Choice {
    size_t model = 0;
    ModelReason reason = ModelReason::first;
  };
  // Counts the model's mean cost as spent until learn() has the real one. The same calls give the same choices.
  Choice choose();
  // `cost` above 0.
  void learn(size_t model, double gain, double cost);

 private:
  struct Arm {
    double usual_cost = 1;
    double answered = 0, gain = 0, cost = 0;
    double in_flight = 0;  // requests
    double mean_cost() const { return answered > 0 ? cost / answered : usual_cost; }
    double spent() const { return cost + in_flight * mean_cost(); }
    double rate() const { return cost > 0 ? gain / cost : 0; }
  };
  std::vector<Arm> arms_;
};

}  // namespace agent::learning
