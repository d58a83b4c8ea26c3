// What earlier campaigns of the archive teach the search for one problem. The search takes it once, when it begins, and
// records it with its beginning, so that a resumed or replayed search knows the same.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/prompting/facts.h"
#include "core/strict_json.h"
#include "results/archive/exchanges.h"
#include "results/archive/reader.h"

namespace agent::learning {

struct Lessons {
  std::optional<prompting::Exemplar> exemplar = std::nullopt;        // for prompts for a fresh solution
  std::map<std::string, results::archive::CardRecord> cards = {};    // the record of technique cards
  std::map<std::string, results::archive::ModelRecord> models = {};  // of the campaign's models, if it has several
};

// `kind`: DeviceChoice::kind of the device; `models`: that write solutions.
Lessons lessons_for(const results::archive::Reader& archive, const benchsuite::Problem& problem,
                    const prompting::DeviceText& device, const std::string& kind,
                    const std::vector<std::string>& models = {});

// For the archive, which has the exemplar's source. Throws core::SystemError when it has lost it.
core::Json to_json(const Lessons& lessons);
Lessons lessons_from_json(const core::Json& json, const results::archive::Reader& archive);

}  // namespace agent::learning
