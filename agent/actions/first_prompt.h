// The prompt that a language model would get for a problem now.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/prompting/prompt_maker.h"
#include "results/archive/recorder.h"

namespace agent::actions {

struct PromptWish {
  std::string task;  // "fresh", "improve", ...; empty: improve the best known solution, or start fresh without one
  int wanted = 1;    // solutions
  prompting::PromptLimits limits = {};
  bool learns = true;  // shows and uses what earlier campaigns found (learning::Lessons)
};

// `kind`: DeviceChoice::kind of the device, whose leaderboard gives the known solutions, with what their last judgement
// says of them; where it has none, those that were right and won nothing do. "repair" takes the latest one that failed.
// `templates`: core::Paths::prompts. Throws core::InputError when the task needs more known solutions
// than there are.
prompting::MadePrompt first_prompt(const results::archive::Reader& archive, const prompting::DeviceText& device,
                                   const std::string& kind, const benchsuite::Problem& problem, const PromptWish& wish,
                                   const std::filesystem::path& templates);

}  // namespace agent::actions
