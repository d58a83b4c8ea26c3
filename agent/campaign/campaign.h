// A campaign: problems searched within one budget, side by side on several GPUs, everything recorded, resumable after
// a kill.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/search/model_proposals.h"
#include "agent/search/problem_search.h"
#include "core/paths.h"

namespace agent::campaign {

// Settings of a campaign. The archive keeps them, so that it can be resumed.
struct CampaignSettings {
  std::vector<std::string> problems;
  std::string device = "cpu";
  bool hot = false;  // on a GPU: timed with a warm L2 cache
  search::BudgetLeft budget;
  uint64_t seed = 0;
  int patience = 1;
  bool shipped = true;                 // kernels/<problem>/*.cu take part
  std::vector<std::string> proposers;  // names of models (agent/models/providers.h); none: the tuner alone
  std::string planner;                 // the model that plans each solution before it is written; empty: none
  search::ModelSearchSettings models;
  models::Sampling sampling;
  search::SpendingLimits spending;
  std::vector<std::string> solutions;  // hashes of the user's own solutions in the archive
  std::string launcher;                // the command that starts nodes (agent/nodes); empty: judged in this process
  int nodes = 0;                       // that it starts
  bool learns = true;                  // prompts show and use what earlier campaigns of the archive found
  bool held_out = false;               // its problems are for an evaluation: no prompt shows their winners
  std::string trial;                   // the comparison of strategies that it belongs to; empty: none
};
// The names of its proposers, in their order, and of its planner.
std::vector<std::string> models_of(const CampaignSettings& settings);
core::Json to_json(const CampaignSettings& settings);
CampaignSettings campaign_settings_from_json(const core::JsonView& json);

// The shipped solutions of a shipped problem, in order of name; those of every device when `device` is empty.
std::vector<search::NamedSolution> shipped_solutions(const core::Paths& paths, const benchsuite::Problem& problem,
                                                     const std::string& device);

struct CampaignEnd {
  bool interrupted = false;
  int64_t attempts = 0;
};

// Runs a recorded campaign to its end and updates its status in the archive. `models`: as models_of() names them.
// Throws core::SystemError after marking the campaign as failed, when our side keeps failing.
CampaignEnd run_campaign(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                         const core::Paths& paths, const std::map<std::string, benchsuite::Problem>& problems,
                         search::Progress& progress, const std::vector<models::Model*>& models = {});

class Lanes;

// The same on other lanes than those of this host, made once the campaign counts as running.
CampaignEnd run_campaign(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                         const core::Paths& paths, const std::map<std::string, benchsuite::Problem>& problems,
                         search::Progress& progress, const std::vector<models::Model*>& models,
                         const std::function<std::unique_ptr<Lanes>()>& make_lanes);

struct Replayed {
  int64_t steps = 0;   // recorded steps that the program decided the same way
  bool ended = false;  // false: the record stops while work was in flight
  std::optional<search::Divergence> divergence;
};
// Replays a campaign from its record, without network, compiler or device, and compares each decision with the recorded
// one. Writes to `archive`, so pass a copy. Reports only the problems to `progress`.
Replayed replay_campaign(results::archive::Recorder& archive, const results::archive::CampaignRecord& campaign,
                         const core::Paths& paths, const std::map<std::string, benchsuite::Problem>& problems,
                         search::Progress& progress);

}  // namespace agent::campaign
