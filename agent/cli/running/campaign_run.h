// Campaigns as the command line runs them: from options to a recorded end, with progress and the last table printed.
#pragma once

#include <string>
#include <vector>

#include "agent/campaign/startup.h"
#include "agent/cli/invocation.h"
#include "agent/cli/running/run_options.h"

namespace agent::cli::running {

// The problems that the options name, each once.
std::vector<std::string> chosen_problems(const RunOptions& options, campaign::LoadedData& data);

// Starts one. Sets the invocation's exit code where it is interrupted, or where no model answered.
void run_campaign(RunOptions& options, Invocation& invocation);

// Continues one that was interrupted, by its name or a prefix of it; empty: the newest.
void resume_campaign(const std::string& name, const models::ModelOptions& models, Invocation& invocation);

}  // namespace agent::cli::running
