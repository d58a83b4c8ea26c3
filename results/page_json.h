// Parts of what pages show, as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/strict_json.h"
#include "results/campaign_tally.h"
#include "results/leaderboard.h"
#include "results/scores.h"

namespace results {

core::Json page_json(const verifier::SpeedUp& speed_up);
core::Json page_json(const LeaderboardRow& row);
core::Json page_json(const CampaignRecord& campaign);
core::Json page_json(const Curve& curve);
core::Json page_json(const SelftestRecord& selftest);
core::Json page_json(const SuiteScores& scores);
core::Json page_json(const benchsuite::Problem& problem);

// Where the rows of one problem and device stand under what the device can reach: arithmetic intensity against
// FLOP/s and bytes a second, at each workload that was timed; the naive solution among them. `ceilings` is null where
// the device has never been calibrated.
core::Json roofline_json(const benchsuite::Problem& problem, const std::vector<LeaderboardRow>& rows,
                         const std::optional<verifier::Calibration>& calibration);

}  // namespace results
