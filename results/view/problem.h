// The JSON of a problem's page, except its solutions (json.h).
#pragma once

#include <optional>
#include <vector>

#include "benchsuite/problem.h"
#include "core/strict_json.h"
#include "results/archive/leaderboard.h"
#include "verifier/devices/gpu/calibration.h"

namespace results::view {

// title, description, axes [{name, description, min, max, values}], scalars [{name, dtype, value, text}], workloads
// [{name, role, axes, devices, weight}], cost {flops, bytes_read, bytes_written}.
core::Json json_of(const benchsuite::Problem& problem);

// The roofline of one problem and device: arithmetic intensity, FLOP/s and bytes per second of each row at each timed
// workload, including the naive solution. `ceilings` is null if the device was never calibrated.
core::Json roofline_json(const benchsuite::Problem& problem, const std::vector<archive::LeaderboardRow>& rows,
                         const std::optional<verifier::verdicts::Calibration>& calibration);

}  // namespace results::view
