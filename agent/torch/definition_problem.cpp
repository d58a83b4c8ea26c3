#include "agent/torch/definition_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "agent/torch/definition_reference.h"
#include "agent/torch/definition_workloads.h"
#include "benchsuite/data_files.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "core/text.h"

namespace agent::torch {
namespace {
namespace fs = std::filesystem;
using core::Json;
using core::JsonView;
constexpr size_t kMostText = size_t{16} << 20, kTests = 4, kTimed = 8, kMostLeftOut = 16;
constexpr int64_t kMostCpuBytes = int64_t{256} << 20;
constexpr const char* kToBeSaid =
    "its axes take the sizes of its Workloads alone, its cost counts outputs alone, and contract.sums is not set: say "
    "more in problem.json where you know it";

using Run = DefinitionWorkload;

bool is_whole(const std::string& dtype) { return dtype.rfind("int", 0) == 0; }

std::string dtype_name(const JsonView& view) {
  static const std::map<std::string, std::string> kNames{{"float16", "f16"},
                                                         {"bfloat16", "bf16"},
                                                         {"float8_e4m3fn", "f8e4m3"},
                                                         {"float8_e5m2", "f8e5m2"},
                                                         {"float32", "f32"},
                                                         {"float64", "f64"},
                                                         {"int8", "i8"},
                                                         {"uint8", "u8"},
                                                         {"int32", "i32"},
                                                         {"int64", "i64"},
                                                         {"bool", "bool"}};
  const auto found = kNames.find(view.string());
  if (found == kNames.end()) view.fail("no problem holds " + view.string());
  return found->second;
}

std::string described(const JsonView& view, const std::string& otherwise, size_t most) {
  const bool has_text = view.has("description") && view.at("description").json().is_string();
  const std::string text = has_text ? core::clean_line(view.at("description").string(), most) : "";
  return text.empty() ? otherwise : text;
}

// Names of an object's members as they stand in the file: reference returns outputs in this order.
std::vector<std::string> names_in_order(const std::string& text, const char* field) {
  std::vector<std::string> names;
  const auto json = nlohmann::ordered_json::parse(text);
  for (const auto& [name, value] : json.at(field).items()) names.push_back(name);
  return names;
}

class Maker {
 public:
  Maker(const DefinitionFile& files, uint64_t fit_bytes)
      : text_(core::read_file(files.definition, kMostText)),
        file_(files.definition.filename().string()),
        json_(core::parse_json(text_, file_)),
        view_(json_, file_),
        root_(files.root),
        fit_bytes_(static_cast<int64_t>(fit_bytes)),
        runs_(definition_workloads(core::read_file(files.workloads, kMostText), files.workloads.filename().string())) {}

  DefinitionProblem make(std::string name, bool add_dtype) {
    made_.remarks.emplace_back(kToBeSaid);
    read_axes();
    read_tensors("inputs", inputs_);
    read_tensors("outputs", outputs_);
    choose_runs();
    const std::string first = names_in_order(text_, "outputs").at(0);
    if (add_dtype) name += "_" + outputs_.at(first).at("dtype").get<std::string>();
    made_.json = problem(name).dump(2) + "\n";
    made_.reference = reference();
    check();
    return std::move(made_);
  }

 private:
  void read_axes() {
    std::map<std::string, JsonView> expressions;
    for (const auto& [name, axis] : view_.at("axes").members()) {
      JsonView(Json(name), view_.file(), axis.pointer()).identifier();
      const std::string type = axis.at("type").one_of({"const", "var", "expr"}, "types of axes");
      if (type == "const") extent_of_[name] = std::to_string(axis.at("value").integer(1, INT32_MAX));
      if (type == "expr") expressions.emplace(name, axis.at("expression"));
      if (type != "var") continue;
      extent_of_[name] = name;
      variable_[name] = described(axis, name, 200);
    }
    for (const auto& [name, expression] : expressions) extent_of_[name] = "(" + over_axes(expression) + ")";
  }

  // Python's expression over other axes in ours: with // as / and constant axes as numbers.
  std::string over_axes(const JsonView& view) const {
    const std::string expression = view.string();
    std::string text;
    for (size_t at = 0, end = 0; at < expression.size(); at = end) {
      const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
      for (end = at; end < expression.size() && is_word(expression[end]);) ++end;
      end = std::max(end, at + 1);
      const std::string word = expression.substr(at, end - at);
      const auto axis = extent_of_.find(word);
      if (word != "/" || !text.ends_with('/')) text += axis == extent_of_.end() ? word : axis->second;
    }
    const Json json = text;
    JsonView(json, view.file(), view.pointer()).expr();
    return text;
  }

  void read_tensors(const char* field, std::map<std::string, Json>& tensors) {
    for (const auto& [name, tensor] : view_.at(field).members()) {
      Json shape = Json::array();
      const JsonView extents = tensor.at("shape");
      if (extents.json().is_null() && field == std::string("inputs")) {
        scalars_[name] = is_whole(tensor.at("dtype").string()) || tensor.at("dtype").string() == "bool" ? "i64" : "f32";
        continue;
      }
      if (extents.json().is_null()) shape.push_back("1");
      for (const JsonView& extent : extents.json().is_null() ? std::vector<JsonView>{} : extents.items()) {
        if (extent.json().is_number()) {
          shape.push_back(std::to_string(extent.integer(1, INT32_MAX)));
          continue;
        }
        const auto known = extent_of_.find(extent.string());
        if (known == extent_of_.end()) extent.fail("there is no such axis");
        shape.push_back(known->second);
      }
      if (shape.empty()) shape.push_back("1");
      tensors[name] = {{"dtype", dtype_name(tensor.at("dtype"))}, {"shape", std::move(shape)}};
    }
  }

  static int64_t bytes_of(const Json& tensor, const core::Bindings& axes) {
    const auto dtype = core::enum_from_name<core::DType>(tensor.at("dtype").get<std::string>());
    benchsuite::Tensor one{"", dtype.value(), {}, {}};
    for (const Json& extent : tensor.at("shape")) one.shape.push_back(core::Expr::parse(extent.get<std::string>()));
    return one.bytes(axes);
  }

  // Why a Workload cannot be one of the problem's; "" if it can.
  std::string fault_of(Run& run) {
    for (const auto& [axis, description] : variable_) {
      if (!run.axes.contains(axis)) return "it has no size of " + axis;
    }
    for (const auto& [name, tensor] : inputs_) {
      const std::string type = run.inputs.contains(name) ? run.inputs.at(name).type : "none";
      const bool whole = !core::is_floating(*core::enum_from_name<core::DType>(tensor.at("dtype").get<std::string>()));
      if (type == "none") return "it says nothing of " + name;
      if (type == "random" && whole && tensor.at("dtype") != "bool") {
        return "it does not say the range of the integers in " + name;
      }
      if (type == "safetensors") {
        if (std::string fault = data_file(run.inputs.at(name)); !fault.empty()) return fault;
      }
      run.bytes += bytes_of(tensor, run.axes);
    }
    for (const auto& [name, dtype] : scalars_) {
      if (!run.scalars.contains(name)) return "it gives no value for " + name;
    }
    for (const auto& [name, tensor] : outputs_) run.bytes += bytes_of(tensor, run.axes);
    return run.bytes > fit_bytes_ ? "its tensors are larger than --fit" : "";
  }

  // Finds the file of an input below the root, and gives it a name in the problem's folder.
  std::string data_file(Run::Source& source) {
    std::error_code absent;
    const fs::path root = fs::canonical(root_, absent), file = fs::canonical(root_ / source.path, absent);
    if (absent || !fs::is_regular_file(file)) return "its file " + source.path + " is missing";
    if (const fs::path below = file.lexically_relative(root); below.empty() || *below.begin() == "..") {
      return "its file " + source.path + " lies outside " + root_.filename().string();
    }
    if (fs::file_size(file) > benchsuite::kMostDataFileBytes) return "its file " + source.path + " exceeds 64 MiB";
    const auto [known, added] = file_names_.try_emplace(file, "data_" + std::to_string(file_names_.size() + 1));
    source.path = known->second + ".safetensors";
    return "";
  }

  // Those with the scalars of the largest one; the smallest and the largest of them.
  void choose_runs() {
    std::vector<Run> usable;
    std::map<std::string, int> faults;
    for (Run& run : runs_) {
      if (const std::string fault = fault_of(run); fault.empty()) {
        usable.push_back(std::move(run));
      } else {
        ++faults[fault];
      }
    }
    for (const auto& [fault, count] : faults) {
      if (made_.remarks.size() == kMostLeftOut) break;
      made_.remarks.push_back(std::to_string(count) + " of its Workloads left out: " + fault);
    }
    if (usable.empty()) {
      throw core::InputError(
          file_, "has no Workload that can be used" + (faults.empty() ? std::string() : ": " + faults.begin()->first));
    }
    std::ranges::stable_sort(usable, {}, &Run::bytes);
    const auto scalars = usable.back().scalars;
    const size_t before = usable.size();
    std::erase_if(usable, [&](const Run& run) { return run.scalars != scalars; });
    if (usable.size() < before) {
      made_.remarks.push_back(std::to_string(before - usable.size()) + " of its Workloads left out: other scalars");
    }
    choose_tests(usable);
    timed_.assign(usable.end() - static_cast<ptrdiff_t>(std::min(kTimed, usable.size())), usable.end());
  }

  // The smallest that the cpu device holds, and first those in which an axis has another size than in the ones before:
  // what no test varies, no test shows to be wrong.
  void choose_tests(const std::vector<Run>& by_bytes) {
    const auto too_large = [](const Run& run) { return run.bytes > kMostCpuBytes; };
    const auto end = std::max(std::ranges::find_if(by_bytes, too_large), by_bytes.begin() + 1);
    tests_ = {by_bytes.front()};
    const auto take = [&](const auto& wanted) {
      const auto is_taken = [&](const Run& run) {
        return std::ranges::any_of(tests_, [&](const Run& test) { return test.axes == run.axes; });
      };
      const auto found =
          std::find_if(by_bytes.begin(), end, [&](const Run& run) { return wanted(run) && !is_taken(run); });
      if (found != end) tests_.push_back(*found);
      return found != end;
    };
    std::vector<std::string> constant;
    for (const auto& one : variable_) {
      const std::string& axis = one.first;
      const auto differs = [&](const Run& run) { return run.axes.at(axis) != tests_.front().axes.at(axis); };
      if (std::ranges::none_of(tests_, differs) && !take(differs) && std::ranges::any_of(by_bytes, differs)) {
        constant.push_back(axis);
      }
    }
    while (tests_.size() < kTests && take([](const Run&) { return true; })) {
    }
    std::ranges::stable_sort(tests_, {}, &Run::bytes);
    if (!constant.empty()) {
      made_.remarks.push_back("no test varies " + core::join(constant, ", ") +
                              ", since such Workloads are larger than 256 MiB: on the cpu device nothing shows that a "
                              "kernel is wrong at other sizes");
    }
  }

  std::vector<const Run*> chosen() const {
    std::vector<const Run*> all;
    for (const Run& run : tests_) all.push_back(&run);
    for (const Run& run : timed_) all.push_back(&run);
    return all;
  }
  bool given_by(const std::string& input, const char* type) const {
    return std::ranges::all_of(chosen(), [&](const Run* run) { return run->inputs.at(input).type == type; });
  }
  Json init_of(const std::string& name, const Json& tensor) const {
    if (given_by(name, "safetensors") || given_by(name, "custom")) return {{"kind", "given"}};
    if (std::ranges::any_of(chosen(), [&](const Run* run) { return run->inputs.at(name).type == "custom"; })) {
      throw core::InputError(file_, "some Workloads make " + name + " themselves and others do not");
    }
    if (tensor.at("dtype") == "bool") return {{"kind", "integers"}, {"low", 0}, {"high", 1}};
    return {{"kind", "normal"}, {"scale", 1}};
  }

  static Json workload_of(const Run& run, const std::string& name, const char* role, std::vector<std::string> devices) {
    Json workload{{"name", name}, {"role", role}, {"axes", run.axes}};
    if (!devices.empty()) workload["devices"] = std::move(devices);
    for (const auto& [input, source] : run.inputs) {
      if (source.type == "safetensors") workload["inputs"][input] = {{"file", source.path}, {"tensor", source.key}};
    }
    return workload;
  }

  static std::string bytes_text(const Json& tensor) {
    const auto dtype = core::enum_from_name<core::DType>(tensor.at("dtype").get<std::string>());
    std::string text = std::to_string(core::size_bytes(*dtype));
    for (const Json& extent : tensor.at("shape")) text += " * " + extent.get<std::string>();
    return text;
  }

  Json problem(const std::string& name) const {
    Json json{{"name", name}, {"title", view_.at("name").string() + ", of FlashInfer-Bench's form"}};
    json["description"] = described(view_, "what reference.py computes", 1500);
    for (const auto& [axis, description] : variable_) {
      std::set<int64_t> sizes;
      for (const Run* run : chosen()) sizes.insert(run->axes.at(axis));
      json["axes"][axis] = {{"description", description}, {"values", sizes}};
    }
    std::vector<std::string> written;
    for (const auto& [input, tensor] : inputs_) {
      json["inputs"][input] = tensor;
      json["inputs"][input]["init"] = init_of(input, tensor);
    }
    json["outputs"] = outputs_;
    for (const auto& [output, tensor] : outputs_) written.push_back(bytes_text(tensor));
    for (const auto& [scalar, dtype] : scalars_) {
      const Json& value = timed_.back().scalars.at(scalar);
      json["scalars"][scalar] = {{"dtype", dtype},
                                 {"value", value.is_boolean() ? Json(value.get<bool>() ? 1 : 0) : value}};
    }
    json["contract"] = {{"accumulate", "f32"}};
    // A lower bound: the data says which part of the inputs must be read.
    json["cost"] = {{"flops", "1"}, {"bytes_read", "1"}, {"bytes_written", core::join(written, " + ")}};
    json["workloads"] = Json::array();
    for (size_t i = 0; i < tests_.size(); ++i) {
      json["workloads"].push_back(workload_of(tests_[i], "test_" + std::to_string(i + 1), "test", {}));
    }
    json["workloads"].push_back(workload_of(tests_.front(), "bench_cpu", "bench", {"cpu"}));
    for (size_t i = 0; i < timed_.size(); ++i) {
      json["workloads"].push_back(workload_of(timed_[i], "bench_" + std::to_string(i + 1), "bench", {"cuda", "hip"}));
    }
    return json;
  }

  std::string reference() const {
    DefinitionReference reference{view_.at("reference").string(), {}, names_in_order(text_, "outputs"), "", {}, {}, {}};
    if (reference.text.find("def run(") == std::string::npos) view_.at("reference").fail("defines no function run");
    for (const auto& [name, input] : view_.at("inputs").members()) reference.parameters.push_back(name);
    for (const auto& [name, tensor] : inputs_) {
      if (given_by(name, "custom")) reference.custom.push_back(name);
    }
    if (!reference.custom.empty()) reference.entry = view_.at("custom_inputs_entrypoint").identifier();
    for (const auto& [name, axis] : view_.at("axes").members()) {
      if (axis.has("value")) reference.numbers[name] = axis.at("value").json();
      if (axis.has("expression")) reference.expressions[name] = axis.at("expression").string();
    }
    for (const auto& [name, dtype] : scalars_) reference.numbers[name] = timed_.back().scalars.at(name);
    return reference_of_definition(reference);
  }

  // Before anything is written: as the problem will be loaded.
  void check() {
    benchsuite::Problem problem = benchsuite::parse_problem(made_.json, file_);
    std::set<std::string> used;
    for (const benchsuite::Workload& workload : problem.workloads) {
      for (const auto& [input, file] : workload.inputs) used.insert(file.file);
    }
    for (const auto& [path, stem] : file_names_) {
      const std::string name = stem + ".safetensors";
      if (!used.contains(name)) continue;
      std::string bytes = core::read_file(path, benchsuite::kMostDataFileBytes);
      problem.data.emplace(name, std::make_shared<const benchsuite::Safetensors>(bytes, path.filename().string()));
      made_.data.emplace(name, std::move(bytes));
    }
    benchsuite::check_data(problem);
  }

  std::string text_, file_;
  Json json_;
  JsonView view_;
  fs::path root_;
  int64_t fit_bytes_;
  std::vector<Run> runs_, tests_, timed_;
  std::map<std::string, std::string> extent_of_;  // by axis: its name where it is variable, else its size
  std::map<std::string, std::string> variable_;   // descriptions
  std::map<std::string, Json> inputs_, outputs_;
  std::map<std::string, std::string> scalars_;  // dtypes
  std::map<fs::path, std::string> file_names_;  // in the problem's folder, without extension
  DefinitionProblem made_;
};
}  // namespace

bool gives_data(const std::string& definition, const std::string& workloads, const std::string& file) {
  const Json json = core::parse_json(definition, file);
  const JsonView inputs = JsonView(json, file).at("inputs");
  for (const Run& run : definition_workloads(workloads, file + ": workloads")) {
    for (const auto& [name, source] : run.inputs) {
      if (source.type == "custom") return true;
      if (source.type == "safetensors" && inputs.has(name) && is_whole(inputs.at(name).at("dtype").string()))
        return true;
    }
  }
  return false;
}

DefinitionProblem problem_of_definition(const DefinitionFile& files, const std::string& name, bool add_dtype,
                                        uint64_t fit_bytes) {
  return Maker(files, fit_bytes).make(name, add_dtype);
}

}  // namespace agent::torch
