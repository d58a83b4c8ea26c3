#include "agent/torch/robust_kbench.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::torch {
namespace {
namespace fs = std::filesystem;
using core::Json;
using core::JsonView;
constexpr const char *kForward = "func_forward.py", *kConfiguration = "config_forward.json";

std::string name_of(const fs::path& folder, const fs::path& top) {
  const fs::path below = fs::absolute(folder).lexically_normal().lexically_relative(top);
  if (below.empty() || below == ".") return top.filename().string();
  std::vector<std::string> parts;
  for (const fs::path& part : below) parts.push_back(part.string());
  return core::join(parts, "_");
}

std::string python_value(const JsonView& value) {
  const Json& json = value.json();
  if (json.is_boolean()) return json.get<bool>() ? "True" : "False";
  if (json.is_null()) return "None";
  if (json.is_number() || json.is_string()) return json.dump(-1, ' ', true);
  value.fail("is neither a number, a string nor a truth value");
}

// One part of the configuration: its values become assignments, its names arguments.
struct Part {
  std::string assignments;
  std::vector<std::string> names;
};
Part part_of(const JsonView& configuration, const std::string& field) {
  Part part;
  if (!configuration.has(field)) return part;
  const std::vector<JsonView> all = configuration.at(field).items();
  if (all.empty()) return part;
  for (const auto& [name, value] : all.front().members()) {
    JsonView(Json(name), configuration.file(), value.pointer()).identifier();
    part.assignments += name + " = " + python_value(value) + "\n";
    part.names.push_back(name);
  }
  return part;
}

void append(std::vector<std::string>& arguments, const Part& part, const char* pattern) {
  for (const std::string& name : part.names) arguments.push_back(fmt::format(fmt::runtime(pattern), name));
}
}  // namespace

std::vector<TaskFile> tasks_at(const fs::path& path) {
  std::vector<TaskFile> found;
  fs::path top = fs::absolute(path).lexically_normal();
  if (top.filename().empty()) top = top.parent_path();
  const auto take = [&](const fs::path& folder) {
    const TaskFile one{name_of(folder, top), folder / kForward, folder / kConfiguration};
    if (fs::is_regular_file(one.forward) && fs::is_regular_file(one.configuration)) found.push_back(one);
  };
  take(path);
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_directory()) take(entry.path());
  }
  if (error) throw core::InputError(path.string(), "cannot be read: " + error.message());
  if (found.empty()) {
    throw core::InputError(path.string(), "holds no task",
                           "name robust-kbench's folder tasks/, or one with func_forward.py and config_forward.json");
  }
  std::ranges::sort(found, {}, &TaskFile::name);
  return found;
}

std::string source_of_task(const std::string& forward, const std::string& configuration, const std::string& file) {
  const Json json = core::parse_json(configuration, file + ": " + kConfiguration);
  const JsonView view(json, file + ": " + kConfiguration);
  const Part shared = part_of(view, "single_shared_configs"), inputs = part_of(view, "single_input_configs"),
             init = part_of(view, "single_init_configs");
  std::vector<std::string> of_inputs, of_init;
  for (const Part* part : {&inputs, &shared}) append(of_inputs, *part, "{0}={0}");
  for (const Part* part : {&init, &shared}) append(of_init, *part, "\"{0}\": {0}");
  return fmt::format(
      "{}\n\n# ---- The task's configuration.\n\n{}{}{}\n_inputs_of_task = get_inputs\n\n\ndef get_inputs():\n"
      "    return _inputs_of_task({})\n\n\ndef get_init_inputs():\n    return {{{}}}\n",
      forward, shared.assignments, inputs.assignments, init.assignments, core::join(of_inputs, ", "),
      core::join(of_init, ", "));
}

}  // namespace agent::torch
