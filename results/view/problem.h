// The JSON of a problem on its page, beside its solutions (json.h).
#pragma once

#include <optional>
#include <vector>

#include "benchsuite/problem.h"
#include "core/strict_json.h"
#include "results/archive/leaderboard.h"
#include "verifier/devices/cuda/calibration.h"

namespace results::view {

// title, description, axes [{name, description, min, max}], workloads [{name, role, axes, devices}], cost {flops,
// bytes_read, bytes_written}.
core::Json json_of(const benchsuite::Problem& problem);

// Where the rows of one problem and device stand under what the device can reach: arithmetic intensity against FLOP/s
// and bytes a second, at each workload that was timed; the naive solution among them. `ceilings` is null where the
// device has never been calibrated.
core::Json roofline_json(const benchsuite::Problem& problem, const std::vector<archive::LeaderboardRow>& rows,
                         const std::optional<verifier::verdicts::Calibration>& calibration);

}  // namespace results::view
