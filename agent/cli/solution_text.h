// Solutions as people read them: launch plans, figures, and where they come from.
#pragma once

#include <string>
#include <vector>

#include "results/archive/lineage.h"
#include "results/archive/records.h"
#include "verifier/verdicts/counters.h"

namespace agent::cli {

// The launch plan of an attempt's solution at its point, for the first bench workload of its device, or a line that
// says why there is none (JSON: null). `problem_json` is the problem as it was judged by.
std::string plan_text(const results::archive::RecordedAttempt& attempt, const std::string& problem_json);
core::Json plan_json(const results::archive::RecordedAttempt& attempt, const std::string& problem_json);

// What a profiler counted of each launch. Empty when none watched.
std::string counters_text(const std::vector<verifier::verdicts::Counters>& launches);

// "made from s3 by anthropic:claude (improve), 3 ancestors; 12k tokens, $0.35 in all"
std::string descent_text(const results::archive::Descent& descent, const std::string& origin,
                         const std::string& parent_name);
// A table of how it stands on each device. Empty when it does not.
std::string stands_text(const std::vector<results::archive::Stand>& stands);

}  // namespace agent::cli
