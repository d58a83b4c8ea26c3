// The options of a campaign on the command line.
#pragma once

#include <string>
#include <vector>

#include "agent/campaign/campaign.h"
#include "agent/models/providers.h"

namespace CLI {
class App;
}

namespace agent::cli::running {

struct RunOptions {
  std::vector<std::string> problems, files, libraries;
  std::string suite, dialect, architecture, slurm;
  campaign::CampaignSettings settings;
  bool own_only = false, no_baselines = false, dry_run = false;
  models::ModelOptions models;
};

// The option --dialect of the cpu device (campaign::device_in_dialect); empty when it is not given.
void add_dialect_option(CLI::App& command, std::string& dialect);
// --proposer and what limits it, without --strategy.
void add_proposer_options(CLI::App& command, campaign::CampaignSettings& settings);
// How models are reached: keys, certificates, patience.
void add_model_options(CLI::App& command, models::ModelOptions& models);

}  // namespace agent::cli::running
