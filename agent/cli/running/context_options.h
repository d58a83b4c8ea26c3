// Options about the sizes of prompts and replies.
#pragma once

#include "agent/models/model.h"

namespace CLI {
class App;
}

namespace agent::cli::running {

// --context and --max-output. Where the context is given and a reply's length is not, a reply gets a third of it at
// most.
void add_context_options(CLI::App& command, models::Sampling& sampling);

// The same for a context that a server names and the user does not.
void fit_reply(models::Sampling& sampling);

}  // namespace agent::cli::running
