// What a campaign would ask of its models and what that may cost, before anything is sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/campaign/campaign.h"
#include "agent/models/prices.h"
#include "results/archive/recorder.h"

namespace agent::campaign {

// How a model answers, on average.
struct Habit {
  std::string model;
  int64_t replies = 0;  // that the archive has of it; 0: what follows is assumed
  double output_tokens = 2500, seconds = 40;
};
Habit habit_of(const results::archive::Reader& archive, const std::string& model);

struct Range {
  double least = 0, most = 0;
};
// Of one problem of the campaign, which has an equal share of every limit.
struct Estimate {
  Range requests, tokens, seconds;
  std::optional<Range> dollars;  // absent where a price is not known
  std::string limit;             // what is used up first, as a sentence
};

// `prompt_tokens`: of the first prompt. Later ones are longer, as they hold what became known. `settings` must name a
// limit of attempts or seconds, and at least one model has a habit.
Estimate estimate(int64_t prompt_tokens, const CampaignSettings& settings, const models::Prices& prices,
                  const std::vector<Habit>& habits);

}  // namespace agent::campaign
