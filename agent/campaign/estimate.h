// Estimates how many requests a campaign would send to its models and what they may cost, before sending any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/campaign/campaign.h"
#include "agent/models/prices.h"
#include "results/archive/recorder.h"

namespace agent::campaign {

// Averages over a model's replies.
struct Habit {
  std::string model;
  int64_t replies = 0;  // in the archive; 0: the figures below are assumed
  double output_tokens = 2500, seconds = 40;
};
Habit habit_of(const results::archive::Reader& archive, const std::string& model);

struct Range {
  double least = 0, most = 0;
};
// An estimate for one problem of the campaign; each has an equal share of every limit.
struct Estimate {
  Range requests, tokens, seconds;
  std::optional<Range> dollars;  // absent when a price is unknown
  std::string limit;             // the limit reached first, as a sentence
};

// `prompt_tokens`: size of the first prompt; later ones are longer, since they report results. `settings` must limit
// attempts or seconds; `habits` must not be empty.
Estimate estimate(int64_t prompt_tokens, const CampaignSettings& settings, const models::Prices& prices,
                  const std::vector<Habit>& habits);

}  // namespace agent::campaign
