// Solutions as text: launch plans, figures and descent.
#pragma once

#include <string>
#include <vector>

#include "results/archive/lineage.h"
#include "results/archive/records.h"
#include "verifier/verdicts/counters.h"

namespace agent::cli {

// The launch plan of an attempt's solution at its point, for the first bench workload of its device, or a line that
// says why there is none (JSON: null). `problem_json`: the version of the problem that it was judged by.
std::string plan_text(const results::archive::RecordedAttempt& attempt, const std::string& problem_json);
core::Json plan_json(const results::archive::RecordedAttempt& attempt, const std::string& problem_json);

// A profiler's counters of each launch. Empty if there are none.
std::string counters_text(const std::vector<verifier::verdicts::Counters>& launches);

// "made from s3 by anthropic:claude (improve), 3 ancestors; 12k tokens, $0.35 in all"
std::string descent_text(const results::archive::Descent& descent, const std::string& origin,
                         const std::string& parent_name);
// A table of a solution's best result on each device. Empty if there is none.
std::string stands_text(const std::vector<results::archive::Stand>& stands);

}  // namespace agent::cli
