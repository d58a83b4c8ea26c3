// The prompt that a language model would get for a problem now.
#pragma once

#include <filesystem>
#include <string>

#include "agent/campaign/device_session.h"
#include "agent/prompting/prompt_maker.h"
#include "results/archive/recorder.h"

namespace agent::actions {

struct PromptWish {
  std::string task;  // "fresh", "improve", ...; empty: improve the best known solution, or start fresh without one
  int wanted = 1;    // solutions
};

// `kind`: DeviceChoice::kind of the session's device, whose leaderboard gives the known solutions. `templates`:
// core::Paths::prompts. Throws core::InputError when the task needs more known solutions than there are.
prompting::MadePrompt first_prompt(const results::archive::Reader& archive, const campaign::DeviceSession& session,
                                   const std::string& kind, const benchsuite::Problem& problem, const PromptWish& wish,
                                   const std::filesystem::path& templates);

}  // namespace agent::actions
