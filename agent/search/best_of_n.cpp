#include "agent/search/strategies.h"

namespace agent::search {
namespace {

class BestOfN : public Strategy {
 public:
  explicit BestOfN(const StrategySettings& settings) : models_(settings.models) {}

  std::optional<Inquiry> next(const Population&) override {
    return Inquiry{prompting::Operator::fresh, {}, 0, models_.choose()};
  }
  void learned(const Inquiry& inquiry, const Population&, const Yield& yield) override {
    models_.learn(inquiry.model, yield.gain, yield.cost);
  }

 private:
  Bandit models_;
};
}  // namespace

std::unique_ptr<Strategy> make_best_of_n(const StrategySettings& settings) {
  return std::make_unique<BestOfN>(settings);
}

}  // namespace agent::search
