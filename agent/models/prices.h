// What models cost, from prompts/prices.json: people edit it, so nothing here guesses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/models/model.h"

namespace agent::models {

// US dollars per million tokens.
struct Price {
  double input = 0, output = 0;
  std::optional<double> cache_read, cache_write;
  std::optional<int64_t> prompt_up_to;  // tokens, cached ones included; for longer prompts another one holds
  std::string as_of, source;            // an ISO date; a page
};

std::string today();  // an ISO date, UTC

class Prices {
 public:
  // `today` is an ISO date ("2026-11-21"): offers that have ended are left out. Throws core::InputError with the place
  // of the fault.
  static Prices load(const std::filesystem::path& file, const std::string& today);

  // `model` as the user names it, Model::name(): "anthropic:claude-opus-5", "openai-chat:gpt-5.4-2026-03-05". A date or
  // "-latest" at its end does not count. nullptr: not known, as is every server of one's own.
  const Price* find(std::string_view model, int64_t prompt_tokens = 0) const;
  // Of one answer. nullopt: the model is not known, or the price of a kind of token that was used is not.
  std::optional<double> cost(const Usage& usage, std::string_view model) const;

 private:
  std::map<std::string, std::vector<Price>, std::less<>> prices_;  // in the order of the file
};

}  // namespace agent::models
