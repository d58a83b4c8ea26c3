// The revisions of the Model Context Protocol, and what differs between them.
//
// Revision 2026-07-28 has no handshake: each request names its revision and its client in "_meta", and every result
// says whether it is complete. Earlier revisions open with `initialize`, which holds for the whole process.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/mcp/messages.h"
#include "core/strict_json.h"

namespace agent::mcp {

inline constexpr const char* kStatelessVersion = "2026-07-28";
// Those with a handshake, the newest first.
const std::vector<std::string>& handshake_versions();

// Who asks, and in which revision.
struct Peer {
  std::string version;
  std::string client;  // its name, cleaned

  bool is_stateless() const { return version == kStatelessVersion; }
};

// An answer that is no result.
struct Refusal {
  int code = kInvalidParams;
  std::string message;
  core::Json data = {};
};

// The peer of a request. `handshake`: what an earlier `initialize` agreed on.
std::variant<Peer, Refusal> peer_of(const Request& request, const std::optional<Peer>& handshake);

// The peer of an `initialize`: the revision that it asks for, or the newest one with a handshake.
std::variant<Peer, Refusal> peer_of_handshake(const core::Json& params);

// The token by which the client wants to hear of progress; null: it does not.
core::Json progress_token(const core::Json& params);

core::Json handshake_result(const Peer& peer, const std::string& instructions);
core::Json discover_result(const std::string& instructions);

// Adds what the peer's revision wants in every result; `method`: of the request.
core::Json complete(core::Json result, const Peer& peer, const std::string& method);

}  // namespace agent::mcp
