#include "sandbox/wire.h"

#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "sandbox/process/sealed_memory.h"

namespace sandbox {
namespace {
using core::Json;
using core::JsonView;

// A compile worker holds a candidate's source: what it says is cut again on this side.
constexpr size_t kMostMessageBytes = 2000, kMostLogBytes = 16384;

Json optional_json(const std::optional<int64_t>& value) { return value ? Json(*value) : Json(); }

std::optional<int64_t> optional_integer(const JsonView& json, std::string_view key) {
  if (!json.has(key) || json.at(key).json().is_null()) return std::nullopt;
  return json.at(key).integer();
}

std::array<int64_t, 3> triple(const JsonView& json) {
  const std::vector<JsonView> items = json.items();
  if (items.size() != 3) json.fail("must have three entries");
  return {items[0].integer(), items[1].integer(), items[2].integer()};
}
}  // namespace

Json to_json(const Fault& fault) {
  Json json{{"kind", name_of(fault.kind)}, {"message", fault.message}, {"kernel", fault.kernel}};
  if (fault.block) json["block"] = *fault.block;
  if (fault.thread) json["thread"] = *fault.thread;
  if (fault.line) json["line"] = *fault.line;
  return json;
}

Fault fault_from_json(const JsonView& json) {
  Fault fault{json.at("kind").one_of<FaultKind>("kinds of fault"),
              json.at("message").string(),
              json.at("kernel").string(),
              {},
              {},
              optional_integer(json, "line")};
  if (json.has("block")) fault.block = triple(json.at("block"));
  if (json.has("thread")) fault.thread = triple(json.at("thread"));
  return fault;
}

Json to_json(const CompileRequest& request) {
  Json macros = Json::array();
  for (const auto& [name, value] : request.macros) macros.push_back({name, value});
  return {{"op", "compile"},
          {"file", request.file},
          {"source", request.source},
          {"macros", std::move(macros)},
          {"build", name_of(request.build)}};
}

CompileRequest compile_request_from_json(const JsonView& json) {
  CompileRequest request{
      json.at("file").string(), json.at("source").string(), {}, json.at("build").one_of<Build>("builds")};
  for (const JsonView& macro : json.at("macros").items()) {
    const std::vector<JsonView> pair = macro.items();
    if (pair.size() != 2) macro.fail("must be a name and a value");
    request.macros.emplace_back(pair[0].identifier(), pair[1].integer());
  }
  return request;
}

void send_compilation(process::Channel& channel, const Compilation& compilation) {
  if (const auto* rejected = std::get_if<Rejected>(&compilation)) {
    channel.send({{"rejected", name_of(rejected->reason)},
                  {"message", rejected->message},
                  {"line", optional_json(rejected->line)},
                  {"log", rejected->log}});
    return;
  }
  const Built& built = std::get<Built>(compilation);
  Json json{{"log", built.log},
            {"compile_ms", built.compile_ms},
            {"registers", optional_json(built.registers)},
            {"shared_bytes", optional_json(built.shared_bytes)},
            {"local_bytes", optional_json(built.local_bytes)},
            {"spill_bytes", optional_json(built.spill_bytes)},
            {"kernels", built.kernels}};
  std::vector<int> fds{built.binary.get()};
  if (built.ptx) {
    json["ptx"] = true;
    fds.push_back(built.ptx.get());
  }
  channel.send(json, fds);
}

Compilation compilation_from_message(process::Message message) {
  const JsonView json(message.json, "compile worker's answer");
  if (json.has("rejected")) {
    return Rejected{json.at("rejected").one_of<Rejection>("reasons"),
                    core::clean_line(json.at("message").string(), kMostMessageBytes), optional_integer(json, "line"),
                    core::clean_text(json.at("log").string(), kMostLogBytes)};
  }
  const size_t files = json.has("ptx") ? 2 : 1;
  if (message.fds.size() != files) json.fail("brings no binary");
  for (const core::UniqueFd& fd : message.fds) {
    if (!process::is_sealed(fd.get())) json.fail("brings a file that can still be changed");
  }
  Built built;
  if (files == 2) {
    built.ptx = std::move(message.fds[1]);
    built.ptx_bytes = process::read_memory(built.ptx.get()).size();
  }
  built.binary = std::move(message.fds[0]);
  // Of what is here, not of what the worker says: it may be the candidate's by now.
  const std::string binary = process::read_memory(built.binary.get());
  built.binary_bytes = binary.size();
  built.binary_hash = core::sha256_hex(binary);
  built.log = core::clean_text(json.at("log").string(), kMostLogBytes);
  built.compile_ms = json.at("compile_ms").number();
  built.registers = optional_integer(json, "registers");
  built.shared_bytes = optional_integer(json, "shared_bytes");
  built.local_bytes = optional_integer(json, "local_bytes");
  built.spill_bytes = optional_integer(json, "spill_bytes");
  for (const auto& [name, parameters] : json.at("kernels").members()) built.kernels[name] = parameters.integer(0);
  return built;
}

}  // namespace sandbox
