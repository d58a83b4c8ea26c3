// What OpenAI's two protocols have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/models/model.h"
#include "core/strict_json.h"

namespace agent {

std::vector<std::string> openai_headers(const std::string& key);
// There is no budget of thinking tokens, only three efforts that every reasoning model knows.
std::string reasoning_effort(int64_t thinking_tokens);
bool takes_temperature(const std::string& model);  // reasoning models refuse one
// `input` counts what was read from a cache or written to it, too; `details` says how much.
Usage openai_usage(int64_t input, const core::Json& details, int64_t output);

}  // namespace agent
