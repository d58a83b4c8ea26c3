// What is in the archive, as people read it and as JSON. Shared by the commands that show it.
#pragma once

#include <string>
#include <vector>

#include "results/archive/records.h"

namespace agent::cli {

core::Json to_json(const results::archive::RecordedAttempt& attempt);
core::Json to_json(const results::archive::CampaignRecord& campaign);

// `facts`: lines that stand below its figures.
std::string attempt_text(const results::archive::RecordedAttempt& attempt, const std::string& facts = "");
// Times and speed-ups per workload.
std::string measurement_text(const verifier::verdicts::Measurement& measurement, const std::string& against);

}  // namespace agent::cli
