// For tests: a channel in memory, and a server of two small tools on it.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "agent/mcp/messages.h"
#include "agent/mcp/schema.h"
#include "agent/mcp/server.h"
#include "core/error.h"

namespace agent::mcp::test {

// The client's lines are there from the start; it ends behind them.
class ScriptedChannel : public Channel {
 public:
  std::optional<Line> next(std::chrono::milliseconds) override {
    if (lines.empty()) return std::nullopt;
    Line line = std::move(lines.front());
    lines.pop_front();
    return line;
  }
  bool has_ended() const override { return lines.empty() && ends; }
  void send(const core::Json& message) override { sent.push_back(core::Json::parse(line_of(message))); }

  std::deque<Line> lines;
  std::vector<core::Json> sent;
  bool ends = true;
};

// echo: gives "text" back, with progress. wait: runs until it is cancelled. fail: our own failure.
inline Offer small_offer() {
  const core::Json text = object_schema({{"text", text_schema("to give back", 100)}}, {"text"});
  return {
      "how to use it",
      {{"echo", "Echo", "Gives a text back", text, core::Json(), true,
        [](const core::Json& arguments, Call& call) -> ToolResult {
          call.progress(0, 2, "begun");
          call.progress(1, 2, "halfway");
          call.progress(1, 2, "not further");
          return {{{"text", arguments.at("text")}, {"client", call.client()}}};
        }},
       {"wait", "Wait", "Waits", object_schema({}, {}), core::Json(), true,
        [](const core::Json&, Call& call) -> ToolResult {
          while (true) call.poll();
        }},
       {"fail", "Fail", "Fails", object_schema({}, {}), core::Json(), true,
        [](const core::Json&, Call&) -> ToolResult { throw core::SystemError("the disk is full"); }}},
      {{"test://page", "page", "A page", "For tests", "text/plain", [](Call&) { return std::string("its text"); }}}};
}

// What the server sends for these lines.
inline std::vector<core::Json> answers_to(const std::vector<std::string>& lines,
                                          std::vector<std::string>* log = nullptr) {
  ScriptedChannel channel;
  for (const std::string& line : lines) channel.lines.push_back({line});
  Server server(channel, small_offer(), [&](const std::string& line) {
    if (log != nullptr) log->push_back(line);
  });
  server.serve([] { return false; });
  return channel.sent;
}

}  // namespace agent::mcp::test
