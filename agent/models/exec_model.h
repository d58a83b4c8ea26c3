// exec:COMMAND: a command that reads a prompt (Prompt::as_text) from standard input and writes its reply to standard
// output.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/models/model.h"

namespace agent::models {

// Splits at spaces. 'Single' and "double" quotes keep words together; a backslash outside single quotes takes the next
// character literally. No shell is involved. Throws core::InputError for an open quote or an empty command.
std::vector<std::string> split_command(std::string_view command);

struct ExecModelSetup {
  std::string name;
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::chrono::milliseconds total{1'800'000};
  size_t most_reply_bytes = 4 << 20;
};

// Starts one process per prompt, with our environment and working directory; error messages quote its standard error.
// Only exit code 0 within the time limit gives a completion. It never starts twice for one prompt, since a start may
// cost money. It is killed with its process group when it is late, writes too much, or is cancelled. Tokens are
// estimated.
std::unique_ptr<Model> exec_model(ExecModelSetup setup);

}  // namespace agent::models
