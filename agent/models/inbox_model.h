// inbox:DIR: prompts and replies are files in a folder, so a person or another program can be the model. It writes a
// README.md with instructions into the folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "agent/models/model.h"

namespace agent::models {

struct InboxModelSetup {
  std::string name;
  std::filesystem::path folder;               // created if missing
  std::chrono::milliseconds look_every{200};  // a reply must be unchanged for as long
  size_t most_reply_bytes = 4 << 20;
};

// A prompt appears atomically as NAME.prompt.md, where NAME holds problem, number and hash; its reply is NAME.reply.md.
// Both move to answered/. A prompt found there is answered from there, so a killed campaign does not ask twice. There
// is no time limit; cancelling moves the prompt's file to unanswered/. Tokens are estimated. Throws core::InputError
// when the folder cannot be created or written.
std::unique_ptr<Model> inbox_model(InboxModelSetup setup);

}  // namespace agent::models
