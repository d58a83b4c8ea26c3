// Attempts as text. Shared by the commands that show them.
#pragma once

#include <string>
#include <vector>

#include "results/archive/records.h"

namespace agent::cli {

// `facts`: lines to add below the figures.
std::string attempt_text(const results::archive::RecordedAttempt& attempt, const std::string& facts = "");
// Times and speed-ups per workload.
std::string measurement_text(const verifier::verdicts::Measurement& measurement, const std::string& against);

}  // namespace agent::cli
