#include "agent/torch/definition_workloads.h"

#include <algorithm>

#include "core/text.h"

namespace agent::torch {
namespace {
using core::Json;
using core::JsonView;

DefinitionWorkload workload_of(const JsonView& view) {
  DefinitionWorkload workload;
  for (const auto& [name, size] : view.at("axes").members()) workload.axes[name] = size.integer(0, INT32_MAX);
  for (const auto& [name, input] : view.at("inputs").members()) {
    const std::string type = input.at("type").string();
    if (type == "scalar") {
      workload.scalars[name] = input.at("value").json();
    } else if (type == "safetensors") {
      workload.inputs[name] = {type, input.at("path").string(), input.at("tensor_key").string()};
    } else {
      workload.inputs[name] = {type, "", ""};
    }
  }
  return workload;
}
}  // namespace

std::vector<DefinitionWorkload> definition_workloads(const std::string& lines, const std::string& file) {
  std::vector<DefinitionWorkload> workloads;
  for (const std::string& line : core::split(lines, '\n')) {
    if (core::trimmed(line).empty()) continue;
    const Json json = core::parse_json(line, file);
    const JsonView view(json, file);
    DefinitionWorkload workload = workload_of(view.has("workload") ? view.at("workload") : view);
    const bool empty = std::ranges::any_of(workload.axes, [](const auto& axis) { return axis.second == 0; });
    if (!empty) workloads.push_back(std::move(workload));
  }
  return workloads;
}

}  // namespace agent::torch
