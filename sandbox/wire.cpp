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

// A compile worker may be compromised, so its output is cut again here.
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
            {"scalar_registers", optional_json(built.scalar_registers)},
            {"wave", optional_json(built.wave)},
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
  if (message.fds.size() != files) json.fail("has no binary");
  for (const core::UniqueFd& fd : message.fds) {
    if (!process::is_sealed(fd.get())) json.fail("has a file that can still be changed");
  }
  Built built;
  if (files == 2) {
    built.ptx = std::move(message.fds[1]);
    built.ptx_bytes = process::read_memory(built.ptx.get()).size();
  }
  built.binary = std::move(message.fds[0]);
  // Hashed here: the candidate may have taken over the worker.
  const std::string binary = process::read_memory(built.binary.get());
  built.binary_bytes = binary.size();
  built.binary_hash = core::sha256_hex(binary);
  built.log = core::clean_text(json.at("log").string(), kMostLogBytes);
  built.compile_ms = json.at("compile_ms").number();
  built.registers = optional_integer(json, "registers");
  built.shared_bytes = optional_integer(json, "shared_bytes");
  built.local_bytes = optional_integer(json, "local_bytes");
  built.spill_bytes = optional_integer(json, "spill_bytes");
  built.scalar_registers = optional_integer(json, "scalar_registers");
  built.wave = optional_integer(json, "wave");
  for (const auto& [name, parameters] : json.at("kernels").members()) built.kernels[name] = parameters.integer(0);
  return built;
}

namespace {
std::vector<int64_t> integers(const JsonView& json, int64_t least) {
  std::vector<int64_t> numbers;
  for (const JsonView& item : json.items()) numbers.push_back(item.integer(least));
  return numbers;
}

std::array<int64_t, 3> extent(const JsonView& json) {
  const std::vector<int64_t> numbers = integers(json, 1);
  if (numbers.size() != 3) json.fail("must have three entries");
  return {numbers[0], numbers[1], numbers[2]};
}

Json to_json(const PlanArg& arg) {
  if (const auto* buffer = std::get_if<BufferArg>(&arg)) return buffer->name;
  if (const auto* scalar = std::get_if<ScalarArg>(&arg)) {
    if (const auto* number = std::get_if<int32_t>(&scalar->value)) return *number;
    return {{"dtype", core::name_of(core::dtype_of(scalar->value))}, {"value", core::json_of(scalar->value)}};
  }
  return {{"tensor_map", std::get<TensorMapArg>(arg).name}};
}

PlanArg arg_from_json(const JsonView& json) {
  if (json.json().is_string()) return BufferArg{json.string()};
  if (!json.json().is_object()) return ScalarArg{core::scalar_at(json, core::DType::i32)};
  if (json.has("tensor_map")) return TensorMapArg{json.at("tensor_map").string()};
  return ScalarArg{core::scalar_at(json.at("value"), json.at("dtype").one_of<core::DType>("dtypes"))};
}
}  // namespace

Json to_json(const PlannedLaunch& launch) {
  Json args = Json::array();
  for (const PlanArg& arg : launch.args) args.push_back(to_json(arg));
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"cluster", launch.cluster},
          {"shared_bytes", launch.shared_bytes},
          {"cooperative", launch.cooperative},
          {"overlaps_previous", launch.overlaps_previous},
          {"args", std::move(args)}};
}

PlannedLaunch launch_from_json(const JsonView& json) {
  PlannedLaunch launch;
  launch.kernel = json.at("kernel").string();
  launch.grid = extent(json.at("grid"));
  launch.block = extent(json.at("block"));
  launch.cluster = extent(json.at("cluster"));
  launch.shared_bytes = json.at("shared_bytes").integer(0);
  launch.cooperative = json.at("cooperative").boolean();
  launch.overlaps_previous = json.at("overlaps_previous").boolean();
  for (const JsonView& arg : json.at("args").items()) launch.args.push_back(arg_from_json(arg));
  return launch;
}

Json to_json(const PlannedTensorMap& map) {
  return {{"name", map.name},
          {"buffer", map.buffer},
          {"dtype", name_of(map.dtype)},
          {"shape", map.shape},
          {"strides_bytes", map.strides_bytes},
          {"box", map.box},
          {"swizzle", map.swizzle},
          {"l2_promotion", map.l2_promotion},
          {"nan_fill", map.nan_fill}};
}

PlannedTensorMap tensor_map_from_json(const JsonView& json) {
  PlannedTensorMap map;
  map.name = json.at("name").string();
  map.buffer = json.at("buffer").string();
  map.dtype = json.at("dtype").one_of<core::DType>("dtypes");
  map.shape = integers(json.at("shape"), 1);
  map.strides_bytes = integers(json.at("strides_bytes"), 1);
  map.box = integers(json.at("box"), 1);
  if (map.shape.empty() || map.box.size() != map.shape.size() || map.strides_bytes.size() + 1 != map.shape.size()) {
    json.fail("has inconsistent shape, strides and box");
  }
  map.swizzle = static_cast<int>(json.at("swizzle").integer(0, 128));
  map.l2_promotion = static_cast<int>(json.at("l2_promotion").integer(0, 256));
  map.nan_fill = json.at("nan_fill").boolean();
  return map;
}

Json to_json(const LaunchPlan& plan) {
  Json json{{"workspaces", Json::array()}, {"launches", Json::array()}, {"tensor_maps", Json::array()}};
  for (const PlannedWorkspace& workspace : plan.workspaces) {
    json["workspaces"].push_back({{"name", workspace.name}, {"bytes", workspace.bytes}, {"zeroed", workspace.zeroed}});
  }
  for (const PlannedLaunch& launch : plan.launches) json["launches"].push_back(to_json(launch));
  for (const PlannedTensorMap& map : plan.tensor_maps) json["tensor_maps"].push_back(to_json(map));
  return json;
}

LaunchPlan plan_from_json(const JsonView& json) {
  LaunchPlan plan;
  for (const JsonView& workspace : json.at("workspaces").items()) {
    plan.workspaces.push_back(
        {workspace.at("name").string(), workspace.at("bytes").integer(1), workspace.at("zeroed").boolean()});
  }
  for (const JsonView& launch : json.at("launches").items()) plan.launches.push_back(launch_from_json(launch));
  for (const JsonView& map : json.at("tensor_maps").items()) plan.tensor_maps.push_back(tensor_map_from_json(map));
  return plan;
}

}  // namespace sandbox
