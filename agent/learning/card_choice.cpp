#include "agent/learning/card_choice.h"

#include <cmath>

namespace agent::learning {
namespace {
constexpr double kCuriosity = 0.5;
}

void CardChoice::sent(const std::vector<std::string>& cards) {
  for (const std::string& card : cards) ++records_[card].sent;
}

void CardChoice::won(const std::vector<std::string>& cards) {
  for (const std::string& card : cards) ++records_[card].won;
}

std::map<std::string, double> CardChoice::worths(const std::vector<prompting::Card>& cards) const {
  double all = 0;
  for (const auto& [card, record] : records_) all += static_cast<double>(record.sent);
  std::map<std::string, double> worths;
  for (const prompting::Card& card : cards) {
    const auto found = records_.find(card.name);
    const auto [sent, won] = found == records_.end() ? results::archive::CardRecord{} : found->second;
    const double tries = static_cast<double>(sent) + 2;
    worths[card.name] = (static_cast<double>(won) + 1) / tries + kCuriosity * std::sqrt(std::log(all + 1) / tries);
  }
  return worths;
}

}  // namespace agent::learning
