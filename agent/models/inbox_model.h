// inbox:DIR. Prompts lie in a folder as files, replies are picked up as files: a person, or another program, is the
// model. The folder's README.md, which is written there, says how.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "agent/models/model.h"

namespace agent::models {

struct InboxModelSetup {
  std::string name;
  std::filesystem::path folder;               // made when it is not there
  std::chrono::milliseconds look_every{200};  // also how long a reply must have stayed as it is
  size_t most_reply_bytes = 4 << 20;
};

// A prompt appears, whole, as NAME.prompt.md, NAME being made of problem, number and hash. Its reply is NAME.reply.md.
// Both go to answered/; a prompt that was answered there before is answered from there, so that a campaign that was
// killed does not ask twice. There is no time limit: who asks cancels, and the prompt's file goes. Tokens are
// estimated. Throws core::InputError when the folder cannot be made or written.
std::unique_ptr<Model> inbox_model(InboxModelSetup setup);

}  // namespace agent::models
