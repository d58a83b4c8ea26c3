// How strategies compare that spent the same budget on the same problems.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/archive/trials.h"

namespace results::view {

// `count` of `of`, with a 95 % interval of the share (Wilson 1927).
struct Share {
  int64_t count = 0, of = 0;
  double low = 0, high = 1;

  double value() const { return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of); }
};
Share share_of(int64_t count, int64_t of);

struct StrategyFigures {
  std::string strategy;
  int64_t campaigns = 0, unfinished = 0;  // unfinished ones count in nothing else
  std::vector<Share> correct_within;      // within 1, 2 ... requests; empty: it asks no model
  // Beside the tuner's campaign for the same problem and seed: wins, whose interval lies above the tuner's, and the
  // geometric mean of best over best. Without a win a campaign's best is naive, 1x.
  Share wins;
  std::optional<double> over_tuned;  // absent: nothing to compare with, or it is the tuner
  // Its 95 % interval: bootstrap over problems, seeds of a problem together. Absent for fewer than five problems.
  std::optional<verifier::statistics::Interval> over_tuned_interval;
  // Means of a campaign.
  double requests = 0, tokens = 0, dollars = 0, seconds = 0;
  bool all_priced = true;
};

// In the order of the first campaign of each.
std::vector<StrategyFigures> strategy_figures(const std::vector<archive::TrialCampaign>& campaigns);

// Sentences that define the figures.
const std::vector<std::string>& strategy_definitions();

core::Json json_of(const StrategyFigures& figures);
core::Json json_of(const archive::TrialCampaign& campaign);

}  // namespace results::view
