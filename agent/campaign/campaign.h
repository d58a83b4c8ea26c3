// A campaign: problems searched one after another within one budget, everything recorded, resumable after a kill.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/search/model_proposals.h"
#include "agent/search/problem_search.h"
#include "core/paths.h"

namespace agent::campaign {

// What a campaign was asked to do; kept in the archive, so that it can be resumed.
struct CampaignSettings {
  std::vector<std::string> problems;
  std::string device = "cpu";
  bool hot = false;  // on a GPU: timed with a warm L2 cache
  search::BudgetLeft budget;
  uint64_t seed = 0;
  int patience = 1;
  bool shipped = true;                 // take part: kernels/<problem>/*.cu
  std::vector<std::string> proposers;  // names of models (agent/models/providers.h); none: the tuner alone
  search::ModelSearchSettings models;
  models::Sampling sampling;
  search::SpendingLimits spending;
  std::vector<std::string> solutions;  // hashes of the user's own, which the archive holds
};
core::Json to_json(const CampaignSettings& settings);
CampaignSettings campaign_settings_from_json(const core::JsonView& json);

// The solutions that ship for a problem, in order of name; of every device when `device` is empty.
std::vector<search::Entrant> shipped_entrants(const core::Paths& paths, const benchsuite::Problem& problem,
                                              const std::string& device);

struct CampaignEnd {
  bool interrupted = false;
  int64_t attempts = 0;
};

// Runs what is left of a campaign that the archive knows, and keeps its status there. `models`: its proposers, in their
// order. Throws core::SystemError, having
// marked the campaign as failed, when our side fails for good.
CampaignEnd run_campaign(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                         const core::Paths& paths, const std::map<std::string, benchsuite::Problem>& problems,
                         search::Progress& progress, const std::vector<models::Model*>& models = {});

struct Replayed {
  int64_t steps = 0;   // of the record that were decided as they were
  bool ended = false;  // the campaign did; otherwise the record ends with what was under way
  std::optional<search::Divergence> divergence;
};
// Makes a campaign's decisions again from what the archive has of it, without network, compiler or device, and holds
// each against what was decided. `archive` is written to: let it be a copy. `progress` hears of nothing but problems.
Replayed replay_campaign(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                         const core::Paths& paths, const std::map<std::string, benchsuite::Problem>& problems,
                         search::Progress& progress);

}  // namespace agent::campaign
