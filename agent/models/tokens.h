// How many tokens a text is, for servers that do not count and for what has not been sent yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/models/model.h"

namespace agent {

// Every model counts in its own way; this is for planning. Against the tokenizer of Gemma 3 (measured 2026-11-21) it is
// at most 8 % off on each of 72 kernels, problem files, pages of documentation and C++ sources of this repository.
// Other tokenizers were not measured; Anthropic says that its own since Opus 4.7 gives up to 1.35 times what the one
// before gave. Work in proportion to the text.
int64_t estimate_tokens(std::string_view text);
int64_t estimate_tokens(const Prompt& prompt);

}  // namespace agent
