#include "agent/mcp/protocol.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/text.h"

namespace agent::mcp {
namespace {
using core::Json;
constexpr const char *kVersionKey = "io.modelcontextprotocol/protocolVersion",
                     *kClientKey = "io.modelcontextprotocol/clientInfo",
                     *kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities",
                     *kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr size_t kClientBytes = 60;
constexpr int64_t kFresh_ms = 300'000;  // how long a list may be kept
// Their results may be kept by the client.
constexpr std::array<std::string_view, 5> kKeepable{"server/discover", "tools/list", "resources/list",
                                                    "resources/templates/list", "resources/read"};

Json server_info() { return {{"name", "kernelwright"}, {"title", "Kernelwright"}, {"version", KW_VERSION}}; }

Json capabilities() { return {{"tools", Json::object()}, {"resources", Json::object()}}; }

// The name in an Implementation.
std::string name_in(const Json& info) {
  const bool named = info.is_object() && info.contains("name") && info.at("name").is_string();
  const std::string name = named ? core::clean_line(info.at("name").get<std::string>(), kClientBytes) : "";
  return name.empty() ? "client" : name;
}

Refusal unsupported(const std::string& version) {
  return {kUnsupportedVersion,
          "Unsupported protocol version",
          {{"supported", Json::array({kStatelessVersion})}, {"requested", core::clean_line(version, 100)}}};
}
}  // namespace

const std::vector<std::string>& handshake_versions() {
  static const std::vector<std::string> versions{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
  return versions;
}

std::variant<Peer, Refusal> peer_of(const Request& request, const std::optional<Peer>& handshake) {
  const Json meta = request.params.value("_meta", Json::object());
  if (!meta.is_object()) return Refusal{kInvalidParams, "\"_meta\" must be an object"};
  if (!meta.contains(kVersionKey)) {
    if (handshake) return *handshake;
    return Refusal{kInvalidParams, "the request names no protocol version: put it into \"_meta\", as revision " +
                                       std::string(kStatelessVersion) +
                                       " says, or send initialize first, as earlier ones do"};
  }
  const Json& version = meta.at(kVersionKey);
  if (!version.is_string()) return Refusal{kInvalidParams, std::string(kVersionKey) + " must be a text"};
  if (version != kStatelessVersion) return unsupported(version.get<std::string>());
  if (!meta.contains(kCapabilitiesKey) || !meta.at(kCapabilitiesKey).is_object()) {
    return Refusal{kInvalidParams, std::string(kCapabilitiesKey) + " must be there, and be an object"};
  }
  return Peer{kStatelessVersion, name_in(meta.value(kClientKey, Json()))};
}

std::variant<Peer, Refusal> peer_of_handshake(const Json& params) {
  const auto version = params.find("protocolVersion");
  if (version == params.end() || !version->is_string()) {
    return Refusal{kInvalidParams, "initialize needs \"protocolVersion\", a text"};
  }
  const std::vector<std::string>& known = handshake_versions();
  const bool is_known = std::find(known.begin(), known.end(), version->get<std::string>()) != known.end();
  return Peer{is_known ? version->get<std::string>() : known.front(), name_in(params.value("clientInfo", Json()))};
}

Json progress_token(const Json& params) {
  const Json meta = params.value("_meta", Json::object());
  const Json token = meta.is_object() ? meta.value("progressToken", Json()) : Json();
  return token.is_string() || token.is_number_integer() ? token : Json();
}

Json handshake_result(const Peer& peer, const std::string& instructions) {
  return {{"protocolVersion", peer.version},
          {"capabilities", capabilities()},
          {"serverInfo", server_info()},
          {"instructions", instructions}};
}

Json discover_result(const std::string& instructions) {
  return {{"supportedVersions", Json::array({kStatelessVersion})},
          {"capabilities", capabilities()},
          {"instructions", instructions}};
}

Json complete(Json result, const Peer& peer, const std::string& method) {
  if (!peer.is_stateless()) return result;
  result["resultType"] = "complete";
  result["_meta"][kServerKey] = server_info();
  if (std::find(kKeepable.begin(), kKeepable.end(), method) == kKeepable.end()) return result;
  result["ttlMs"] = method == "resources/read" ? 0 : kFresh_ms;  // device facts change with a calibration
  result["cacheScope"] = "private";
  return result;
}

}  // namespace agent::mcp
