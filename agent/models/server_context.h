// How many tokens a server of one's own takes, as it says itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/models/providers.h"

namespace agent::models {

// Tokens of prompt and reply together: what llama.cpp (/props) and vLLM or SGLang (/v1/models) say. nullopt: the name
// is not http://..., or the server does not say it within five seconds; Ollama does not.
std::optional<int64_t> context_of_server(const std::string& name, const ModelOptions& options);

}  // namespace agent::models
