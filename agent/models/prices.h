// Prices of models from prompts/prices.json. People edit that file, so nothing here guesses.
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
  std::optional<int64_t> prompt_up_to;  // tokens, including cached ones; longer prompts have another price
  std::string as_of, source;            // an ISO date; a page
};

std::string today();  // an ISO date, UTC

class Prices {
 public:
  // Leaves out offers that ended before `today`, an ISO date ("2026-11-21"). Throws core::InputError with the position
  // of the fault.
  static Prices load(const std::filesystem::path& file, const std::string& today);

  // `model` is Model::name(): "anthropic:claude-opus-5", "openai-chat:gpt-5.4-2026-03-05". Ignores a date or "-latest"
  // at its end. nullptr: unknown, as for any server of your own.
  const Price* find(std::string_view model, int64_t prompt_tokens = 0) const;
  // Dollars for one answer. nullopt: unknown model, or no price for a kind of token that it used.
  std::optional<double> cost(const Usage& usage, std::string_view model) const;

 private:
  std::map<std::string, std::vector<Price>, std::less<>> prices_;  // in the order of the file
};

}  // namespace agent::models
