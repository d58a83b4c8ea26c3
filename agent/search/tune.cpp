// Asks no model at all: the built-in tuner sweeps what is known, and nothing else.
#include "agent/search/strategies.h"

namespace agent::search {
namespace {

class Tune : public Strategy {
 public:
  std::optional<Inquiry> next(const Population&) override { return std::nullopt; }
  void learned(const Inquiry&, const Population&, const Yield&) override {}
};
}  // namespace

std::unique_ptr<Strategy> make_tune(const StrategySettings&) { return std::make_unique<Tune>(); }

}  // namespace agent::search
