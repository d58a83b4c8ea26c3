// Trials: campaigns that spend the same budget on the same problems, each with another strategy (kernelwright
// strategies).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/archive/reader.h"
#include "verifier/statistics/statistics.h"

namespace results::archive {

// One campaign of a trial: one strategy, one problem, one seed.
struct TrialCampaign {
  CampaignRecord record;
  std::string strategy, problem;
  uint64_t seed = 0;
  ModelSpend spend;
  // The number of the request, from 1, whose reply was the first to bring a correct solution. Absent: none did.
  std::optional<int64_t> first_correct;
  std::optional<verifier::statistics::SpeedUp> best;  // over naive, confirmed; absent: no win
};

// In the order of their start, interrupted ones too. Empty where the archive has no such trial.
std::vector<TrialCampaign> campaigns_of_trial(const Reader& archive, const std::string& trial);

// The name of the trial that had the last campaign.
std::optional<std::string> newest_trial(const Reader& archive);

}  // namespace results::archive
