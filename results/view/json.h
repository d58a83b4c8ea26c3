// Parts of what pages show, as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/strict_json.h"
#include "results/archive/campaign_tally.h"
#include "results/archive/leaderboard.h"
#include "results/view/scores.h"

namespace results::view {

core::Json json_of(const verifier::statistics::SpeedUp& speed_up);
core::Json json_of(const archive::LeaderboardRow& row);
core::Json json_of(const archive::CampaignRecord& campaign);
core::Json json_of(const archive::Curve& curve);
core::Json json_of(const archive::SelftestRecord& selftest);
core::Json json_of(const SuiteScores& scores);
core::Json json_of(const benchsuite::Problem& problem);

// Where the rows of one problem and device stand under what the device can reach: arithmetic intensity against
// FLOP/s and bytes a second, at each workload that was timed; the naive solution among them. `ceilings` is null where
// the device has never been calibrated.
core::Json roofline_json(const benchsuite::Problem& problem, const std::vector<archive::LeaderboardRow>& rows,
                         const std::optional<verifier::verdicts::Calibration>& calibration);

}  // namespace results::view
