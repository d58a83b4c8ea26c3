// exec:COMMAND. A command that reads a prompt (Prompt::as_text) on standard input and writes its reply on standard
// output.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/models/model.h"

namespace agent::models {

// Words apart at spaces; 'single' and "double" quotes keep words together, a backslash outside of single quotes takes
// the next character as it is. Nothing else is special: no shell sees it. Throws core::InputError when a quote does not
// end, or there is no word.
std::vector<std::string> split_command(std::string_view command);

struct ExecModelSetup {
  std::string name;
  std::vector<std::string> argv;  // the program is looked for in PATH
  std::chrono::milliseconds total{1'800'000};
  size_t most_reply_bytes = 4 << 20;
};

// One process for each prompt, with our environment and folder; its standard error is kept for messages. It ends in
// time with exit code 0, or there is no completion: it is not started twice for one prompt, since it may cost. It is
// killed with its process group when it is late, writes too much, or is cancelled. Tokens are estimated.
std::unique_ptr<Model> exec_model(ExecModelSetup setup);

}  // namespace agent::models
