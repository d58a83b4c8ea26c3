#include "agent/mcp/client_config.h"

#include <array>

#include "core/error.h"
#include "core/strict_json.h"
#include "core/suggest.h"

namespace agent::mcp {
namespace {
using core::Json;
constexpr int kTool_s = 600;  // a confirmation may take minutes; clients wait one by default

enum class Form { json, json_with_type, toml };

struct Client {
  const char* name;
  Form form;
  const char* servers;  // the member that holds servers by name
  const char* place;
};
constexpr std::array kClients{
    Client{"claude-code", Form::json_with_type, "mcpServers", ".mcp.json in the root of your project"},
    Client{"claude-desktop", Form::json, "mcpServers",
           "claude_desktop_config.json, which Settings, Developer, Edit Config opens"},
    Client{"codex", Form::toml, "mcp_servers", "~/.codex/config.toml"},
    Client{"cursor", Form::json, "mcpServers", ".cursor/mcp.json in your project, or ~/.cursor/mcp.json"},
    Client{"gemini", Form::json, "mcpServers", "~/.gemini/settings.json"},
    Client{"vscode", Form::json_with_type, "servers", ".vscode/mcp.json in your workspace"}};

// JSON's texts and lists of texts are TOML's, too.
std::string toml_text(const Client& client, const std::string& program, const Json& arguments) {
  return std::string("[") + client.servers + ".kernelwright]\ncommand = " + Json(program).dump() +
         "\nargs = " + arguments.dump() + "\ntool_timeout_sec = " + std::to_string(kTool_s) + "\n";
}

std::string json_text(const Client& client, const std::string& program, const Json& arguments) {
  Json server{{"command", program}, {"args", arguments}};
  if (client.form == Form::json_with_type) server["type"] = "stdio";
  return Json{{client.servers, {{"kernelwright", std::move(server)}}}}.dump(2) + "\n";
}
}  // namespace

const std::vector<std::string>& client_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Client& client : kClients) all.emplace_back(client.name);
    return all;
  }();
  return names;
}

ClientConfig config_for(const std::string& client, const std::vector<std::string>& command) {
  const Json arguments(std::vector<std::string>(command.begin() + 1, command.end()));
  for (const Client& known : kClients) {
    if (client != known.name) continue;
    const bool is_toml = known.form == Form::toml;
    return {is_toml ? toml_text(known, command[0], arguments) : json_text(known, command[0], arguments),
            std::string("This belongs into ") + known.place + "."};
  }
  throw core::UsageError("--print-config", "there is no client \"" + client + "\"",
                         core::did_you_mean(client, client_names(), "clients"));
}

}  // namespace agent::mcp
