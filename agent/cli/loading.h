// Loads the problems that an invocation can name.
#pragma once

#include "agent/campaign/startup.h"
#include "agent/cli/invocation.h"

namespace agent::cli {

// Reports every problem that cannot be used on standard error.
campaign::LoadedData load_data(const Invocation& invocation);

}  // namespace agent::cli
