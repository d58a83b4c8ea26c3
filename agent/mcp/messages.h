// JSON-RPC 2.0 messages of the Model Context Protocol: one line of JSON each.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/strict_json.h"

namespace agent::mcp {

enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kResourceNotFound = -32002,    // until 2025-11-25; later revisions say kInvalidParams
  kUnsupportedVersion = -32022,  // since 2026-07-28
};

struct Request {
  core::Json id;  // a text or an integer
  std::string method;
  core::Json params;  // an object
};
struct Notification {
  std::string method;
  core::Json params;
};
struct Response {};  // of the client; this server asks nothing
struct Malformed {
  core::Json id;  // null: it could not be read
  int code = kInvalidRequest;
  std::string message;
};
using Message = std::variant<Request, Notification, Response, Malformed>;

struct ParsedLine {
  bool is_batch = false;
  std::vector<Message> messages;  // one at least
};
// Never throws: faults are Malformed.
ParsedLine parse_line(std::string_view line);

// The id of a request of which only the beginning is there; null if that does not hold it.
core::Json id_in_beginning(std::string_view beginning);

core::Json result_message(const core::Json& id, core::Json result);
// `id`: null where it could not be read. `data`: null for none.
core::Json error_message(const core::Json& id, int code, const std::string& message, core::Json data = {});
core::Json notification_message(const std::string& method, core::Json params);

// The line of a message, without its end: ASCII, and every text cleaned (core/text.h).
std::string line_of(const core::Json& message);

}  // namespace agent::mcp
