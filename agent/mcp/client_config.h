// What clients want to have in their configuration to start this server.
#pragma once

#include <string>
#include <vector>

namespace agent::mcp {

struct ClientConfig {
  std::string text;   // the configuration, for a file of its own
  std::string place;  // a sentence: which file it belongs to
};

// "claude-code", "codex", ...
const std::vector<std::string>& client_names();

// `command`: the program, then its arguments. Throws core::UsageError for an unknown client.
ClientConfig config_for(const std::string& client, const std::vector<std::string>& command);

}  // namespace agent::mcp
