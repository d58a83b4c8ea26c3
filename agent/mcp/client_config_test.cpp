#include "agent/mcp/client_config.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/strict_json.h"

namespace agent::mcp {
namespace {
using core::Json;

TEST(ClientConfig, EachClientStartsTheSameCommand) {
  const std::vector<std::string> command{"/a b/kernelwright", "mcp", "--device", "cuda"};
  const Json arguments{"mcp", "--device", "cuda"};
  for (const std::string& client : client_names()) {
    const ClientConfig config = config_for(client, command);
    EXPECT_FALSE(config.place.empty());
    if (client == "codex") {
      EXPECT_EQ(config.text,
                "[mcp_servers.kernelwright]\ncommand = \"/a b/kernelwright\"\nargs = [\"mcp\",\"--device\",\"cuda\"]\n"
                "tool_timeout_sec = 600\n");
      continue;
    }
    const Json json = core::parse_json(config.text, client);
    const Json& server = json.at(client == "vscode" ? "servers" : "mcpServers").at("kernelwright");
    EXPECT_EQ(server.at("command"), command[0]);
    EXPECT_EQ(server.at("args"), arguments);
  }
  EXPECT_THROW(config_for("notepad", command), core::UsageError);
}

}  // namespace
}  // namespace agent::mcp
