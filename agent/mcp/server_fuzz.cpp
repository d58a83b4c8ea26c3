// Lines of a client: whatever they are, each answer is a message of one line of ASCII, and the server goes on.
#include <algorithm>

#include "agent/mcp/server_fixture.h"
#include "core/fuzzing.h"
#include "core/text.h"

namespace {
using agent::mcp::Line;
using core::Json;
using core::fuzzing::require;

constexpr const char* kHandshake =
    R"({"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-03-26"}})";
constexpr const char* kLast = R"({"jsonrpc":"2.0","id":"last","method":"ping"})";

bool is_message(const Json& json) {
  if (json.is_array()) return !json.empty() && std::all_of(json.begin(), json.end(), is_message);
  const bool told = json.contains("result") || json.contains("error") || json.contains("method");
  return json.is_object() && json.value("jsonrpc", "") == "2.0" && told;
}

void serve(agent::mcp::test::ScriptedChannel& channel) {
  agent::mcp::Server server(channel, agent::mcp::test::small_offer(), [](const std::string&) {});
  server.serve([] { return false; });
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text(core::fuzzing::as_text(bytes, size));
  agent::mcp::test::ScriptedChannel channel;
  channel.lines.push_back({kHandshake});
  for (const std::string& line : core::split(text, '\n')) channel.lines.push_back({line, line.size() % 7 == 6});
  serve(channel);
  for (const Json& sent : channel.sent) {
    require(is_message(sent), "what is sent is a message");
    const std::string line = agent::mcp::line_of(sent);
    require(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 127; }), "of printable ASCII");
  }
  // It still answers the next client.
  channel.sent.clear();
  channel.lines = {{kHandshake}, {kLast}};
  serve(channel);
  require(channel.sent.size() == 2 && channel.sent[1].at("id") == "last", "the next client is answered");
  return 0;
}
