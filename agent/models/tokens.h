// How many tokens a text is, for servers that do not count and for what has not been sent yet. Every model counts in
// its own way: an estimate is for planning. tokens.cpp says how far it was off where it was measured.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/models/model.h"

namespace agent {

int64_t estimate_tokens(std::string_view text);
int64_t estimate_tokens(const Prompt& prompt);

}  // namespace agent
