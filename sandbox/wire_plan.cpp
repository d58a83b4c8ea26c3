// Launch plans on the wire.
#include "core/error.h"
#include "sandbox/wire.h"

namespace sandbox {
namespace {
using core::Json;
using core::JsonView;

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
  if (const auto* scalar = std::get_if<ScalarArg>(&arg)) return scalar->value;
  return {{"tensor_map", std::get<TensorMapArg>(arg).name}};
}

PlanArg arg_from_json(const JsonView& json) {
  if (json.json().is_string()) return BufferArg{json.string()};
  if (json.json().is_object()) return TensorMapArg{json.at("tensor_map").string()};
  return ScalarArg{static_cast<int32_t>(json.integer(INT32_MIN, INT32_MAX))};
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
    json.fail("has a shape, strides and box that do not fit together");
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
