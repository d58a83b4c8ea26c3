// Which of several technique cards that fit a prompt equally it shows: the one whose replies won most often, or one
// that few prompts have shown.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/prompting/cards.h"
#include "results/archive/exchanges.h"

namespace agent::learning {

class CardChoice {
 public:
  // `records`: of earlier campaigns.
  explicit CardChoice(std::map<std::string, results::archive::CardRecord> records = {})
      : records_(std::move(records)) {}

  // Call when a prompt is sent, and when its reply brought a confirmed win.
  void sent(const std::vector<std::string>& cards);
  void won(const std::vector<std::string>& cards);

  // The worth of each card (prompting::CardWish): UCB1 (Auer, Cesa-Bianchi, Fischer 2002) over the share of prompts
  // that won, each card beginning with one win in two prompts.
  std::map<std::string, double> worths(const std::vector<prompting::Card>& cards) const;

 private:
  std::map<std::string, results::archive::CardRecord> records_;
};

}  // namespace agent::learning
