#include "agent/models/tokens.h"

#include <cctype>

namespace agent {

int64_t estimate_tokens(std::string_view text) { return static_cast<int64_t>(text.size() / 4); }

int64_t estimate_tokens(const Prompt& prompt) {
  constexpr int64_t kPerTurn = 4;  // what a chat template puts around each
  int64_t tokens = estimate_tokens(prompt.system) + kPerTurn;
  for (const Turn& turn : prompt.turns) tokens += estimate_tokens(turn.text()) + kPerTurn;
  return tokens;
}

}  // namespace agent
