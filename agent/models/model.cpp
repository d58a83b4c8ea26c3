#include "agent/models/model.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/hash.h"
#include "results/view/tokens.h"

namespace agent::models {
namespace {
std::string_view name_of_speaker(const Turn& turn) {
  return turn.speaker == Turn::Speaker::user ? "user" : "assistant";
}
}  // namespace

std::string Turn::text() const {
  std::string text;
  for (const Section& section : sections) text += section.text;
  return text;
}

std::string Prompt::hash() const {
  core::Hasher hasher;
  hasher.field("system", system);
  for (const Turn& turn : turns) hasher.field(name_of_speaker(turn), turn.text());
  return hasher.hex();
}

std::string Prompt::as_text() const {
  std::string text = system;
  const auto begin_part = [&] {
    if (!text.empty()) text += text.back() == '\n' ? "\n" : "\n\n";
  };
  for (const Turn& turn : turns) {
    begin_part();
    if (turns.size() > 1) text += "=== " + std::string(name_of_speaker(turn)) + " ===\n";
    text += turn.text();
  }
  return text;
}

Usage& Usage::operator+=(const Usage& other) {
  input += other.input;
  cache_read += other.cache_read;
  cache_written += other.cache_written;
  output += other.output;
  estimated = estimated || other.estimated;
  return *this;
}

int64_t estimate_tokens(std::string_view text) { return results::view::estimate_tokens(text); }

int64_t estimate_tokens(const Prompt& prompt) {
  constexpr int64_t kPerTurn = 4;  // a chat template's tokens around each turn
  int64_t tokens = estimate_tokens(prompt.system) + kPerTurn;
  for (const Turn& turn : prompt.turns) tokens += estimate_tokens(turn.text()) + kPerTurn;
  return tokens;
}

}  // namespace agent::models
