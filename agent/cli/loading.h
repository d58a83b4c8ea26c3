// Loads the problems that an invocation can name.
#pragma once

#include <filesystem>
#include <string>

#include "agent/campaign/startup.h"
#include "agent/cli/invocation.h"
#include "sandbox/solution.h"

namespace agent::cli {

// Reports every problem that cannot be used on standard error.
campaign::LoadedData load_data(const Invocation& invocation);

// The problem of a solution: by its name, or else the folder that its file lies in. Throws core::InputError for none.
const benchsuite::Problem& problem_of(campaign::LoadedData& data, const sandbox::Solution& solution,
                                      const std::filesystem::path& file);

// `command` on `arguments`, with the problems that this invocation named: what a user can paste.
std::string command_again(const Invocation& invocation, const std::string& command, const std::string& arguments);

}  // namespace agent::cli
