#include "agent/torch/flashinfer_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agent/torch/definition_workloads.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::torch {
namespace {
namespace fs = std::filesystem;
using core::Json;
using core::JsonView;
constexpr int64_t kMostSize = int64_t{1} << 31;

// A size of a constant axis, as a number that import does not vary.
std::string fixed(const JsonView& size) { return fmt::format("int(\"{}\")", size.integer(1, kMostSize)); }

std::string python_number(const Json& value) {
  return value.is_boolean() ? value.get<bool>() ? "True" : "False" : value.dump();
}

// definitions/norm/a.json belongs to workloads/norm/a.jsonl; definition.json to workload.jsonl beside it.
DefinitionFile files_of(const fs::path& path) {
  const fs::path definition = fs::absolute(path);
  if (const fs::path beside = definition.parent_path() / "workload.jsonl";
      definition.filename() == "definition.json" && fs::is_regular_file(beside)) {
    return {path, beside, definition.parent_path()};
  }
  fs::path above = definition.parent_path(), below;
  for (; !above.filename().empty() && above.filename() != "definitions"; above = above.parent_path()) {
    below = above.filename() / below;
  }
  const fs::path root = above.parent_path();
  const fs::path found = root / "workloads" / below / definition.filename().replace_extension(".jsonl");
  return {path, fs::is_regular_file(found) ? found : fs::path(), root};
}

// The one whose axes have the largest product; null where there is none.
const DefinitionWorkload* largest_of(const std::vector<DefinitionWorkload>& workloads) {
  const auto size = [](const DefinitionWorkload& workload) {
    double product = 1;
    for (const auto& [name, extent] : workload.axes) product *= static_cast<double>(extent);
    return product;
  };
  const auto largest = std::ranges::max_element(workloads, {}, size);
  return largest == workloads.end() ? nullptr : &*largest;
}

std::string tensor_of(const JsonView& input, const std::string& extents) {
  const std::string dtype = input.at("dtype").string();
  for (const char* known : {"float16", "bfloat16", "float32"}) {
    if (dtype == known) return fmt::format("torch.randn({}, dtype=torch.{})", extents, dtype);
  }
  for (const char* known : {"float8_e4m3fn", "float8_e5m2"}) {
    if (dtype == known) return fmt::format("torch.randn({}).to(torch.{})", extents, dtype);
  }
  if (dtype == "bool") return fmt::format("torch.randint(0, 2, ({},)).bool()", extents);
  if (dtype.rfind("int", 0) == 0) {
    input.fail("holds integers, a Definition does not say their range, and no Workload gives them as safetensors",
               "write a file of PyTorch whose get_inputs() draws them, and import that");
  }
  input.at("dtype").fail("no problem holds " + dtype);
}
}  // namespace

std::vector<DefinitionFile> definitions_at(const fs::path& path) {
  if (fs::is_regular_file(path)) {
    if (path.extension() != ".json") throw core::InputError(path.string(), "is no Definition: those end in .json");
    return {files_of(path)};
  }
  const fs::path folder = fs::is_directory(path / "definitions") ? path / "definitions" : path;
  std::vector<DefinitionFile> found;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() != ".json" || !entry.is_regular_file()) continue;
    found.push_back(files_of(entry.path()));
  }
  if (error) throw core::InputError(folder.string(), "cannot be read: " + error.message());
  if (found.empty()) throw core::InputError(folder.string(), "holds no Definition (.json)");
  std::ranges::sort(found, {}, &DefinitionFile::definition);
  return found;
}

std::string source_of_definition(const std::string& definition, const std::string& workloads, const std::string& file,
                                 const Scalars& scalars) {
  const Json json = core::parse_json(definition, file);
  const JsonView view(json, file);
  const auto runs = definition_workloads(workloads, file + ": workloads");
  const DefinitionWorkload* largest = largest_of(runs);
  std::map<std::string, std::string> extent_of;  // by axis: its name where it is variable, else its size
  std::string sizes;
  const std::string reference = view.at("reference").string();
  if (reference.find("def run(") == std::string::npos) view.at("reference").fail("defines no function run");
  for (const auto& [name, axis] : view.at("axes").members()) {
    JsonView(Json(name), view.file(), axis.pointer()).identifier();
    if (axis.at("type").one_of({"const", "var"}, "types of axes") == "const") {
      extent_of[name] = fixed(axis.at("value"));
      continue;
    }
    if (largest && largest->axes.count(name) == 0) axis.fail("no size of it stands in the largest Workload");
    sizes += fmt::format("{} = {}\n", name, largest ? largest->axes.at(name) : kSizeWithoutWorkloads);
    extent_of[name] = name;
  }
  std::vector<std::string> names, passed, tensors;
  for (const auto& [name, input] : view.at("inputs").members()) {
    if (input.at("shape").json().is_null()) {
      const bool listed = largest != nullptr && largest->scalars.contains(name);
      if (!listed && !scalars.contains(name)) {
        input.fail("is a scalar, and no Workload gives its value", "give it: --scalar " + name + "=VALUE");
      }
      passed.push_back(name + "=" + python_number(listed ? largest->scalars.at(name) : scalars.at(name)));
      continue;
    }
    std::vector<std::string> extents;
    for (const JsonView& extent : input.at("shape").items()) {
      if (extent.json().is_number()) {
        extents.push_back(fixed(extent));
        continue;
      }
      if (extent_of.count(extent.string()) == 0) extent.fail("there is no such axis");
      extents.push_back(extent_of.at(extent.string()));
    }
    names.push_back(name);
    passed.push_back(name + "=" + name);
    tensors.push_back(tensor_of(input, core::join(extents, ", ")));
  }
  return fmt::format(
      "{}\n\nimport torch\n\n{}\n\ndef get_inputs():\n    return [{}]\n\n\ndef forward({}):\n    return run({})\n",
      reference, sizes, core::join(tensors, ", "), core::join(names, ", "), core::join(passed, ", "));
}

}  // namespace agent::torch
