#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "results/exporting/expressions.h"
#include "results/exporting/names.h"
#include "results/exporting/projects.h"
#include "results/exporting/provenance.h"
#include "results/exporting/template_values.h"

namespace results::exporting {
namespace {
using benchsuite::Problem;
using benchsuite::Tensor;
using core::InputError;
using core::Json;

constexpr size_t kMostBlobBytes = size_t{16} << 20;

[[noreturn]] void cannot_say(const Problem& problem, const std::string& what) {
  throw InputError(problem.name, "FlashInfer-Bench cannot describe it: " + what, "export to another format");
}

// The FlashInfer-Bench axis for an extent: one of the problem's axes, or a constant.
std::string axis_of(const Problem& problem, const Tensor& tensor, const core::Expr& extent, Json& axes) {
  for (const benchsuite::Axis& axis : problem.axes) {
    if (axis.name == extent.text()) return axis.name;
  }
  if (!extent.names().empty()) {
    cannot_say(problem, tensor.name + " has a dimension of " + extent.text() + ", and dimensions there are axes");
  }
  const std::string name = "const_" + std::to_string(extent.eval({}));
  axes[name] = {{"type", "const"}, {"value", extent.eval({})}};
  return name;
}

Json tensors_of(const Problem& problem, const std::vector<Tensor>& tensors, Json& axes) {
  Json all = Json::object();
  for (const Tensor& tensor : tensors) {
    Json shape = Json::array();
    for (const core::Expr& extent : tensor.shape) shape.push_back(axis_of(problem, tensor, extent, axes));
    const std::string dtype(torch_type(tensor.dtype));
    if (dtype == "float64" || dtype[0] == 'u') cannot_say(problem, tensor.name + " is " + dtype + ", which it has not");
    all[tensor.name] = {{"shape", shape}, {"dtype", dtype}};
  }
  return all;
}

// The Python reference: the problem's PyTorch equivalent.
std::string reference_of(const Problem& problem) {
  std::vector<std::string> names;
  std::string axes;
  std::set<std::string> known;
  for (const Tensor& tensor : problem.inputs) {
    names.push_back(tensor.name);
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      const std::string& axis = tensor.shape[d].text();
      const bool is_axis = !tensor.shape[d].names().empty() && known.insert(axis).second;
      if (is_axis) axes += "    " + axis + " = " + tensor.name + ".shape[" + std::to_string(d) + "]\n";
    }
  }
  for (const benchsuite::Axis& axis : problem.axes) {
    if (known.count(axis.name) == 0) cannot_say(problem, "the axis " + axis.name + " is not a dimension of an input");
  }
  const benchsuite::Equivalents& equivalents = problem.equivalents;
  const std::string head = "import torch\nimport torch.nn.functional as F\n\n\n";
  const std::string run = "def run(" + core::join(names, ", ") + "):\n" + axes + python_scalars(problem);
  if (equivalents.definition().empty()) return head + run + "    return " + equivalents.call() + "\n";
  return head + equivalents.definition() + "\n\n" + run + "    result = " + equivalents.call() +
         "\n    return tuple(result[name] for name in sorted(result)) if isinstance(result, dict) else result\n";
}

Json definition_of(const Package& package) {
  const Problem& problem = *package.problem;
  Json axes = Json::object(), constraints = Json::array();
  for (const benchsuite::Axis& axis : problem.axes) {
    axes[axis.name] = {{"type", "var"}, {"description", axis.description}};
    if (!axis.values.empty()) {
      std::string any;
      for (const int64_t value : axis.values)
        any += (any.empty() ? "" : " or ") + axis.name + " == " + std::to_string(value);
      constraints.push_back(any);
      continue;
    }
    constraints.push_back(std::to_string(axis.min) + " <= " + axis.name + " <= " + std::to_string(axis.max));
    if (axis.multiple_of != 1) constraints.push_back(axis.name + " % " + std::to_string(axis.multiple_of) + " == 0");
  }
  Json inputs = tensors_of(problem, problem.inputs, axes), outputs = tensors_of(problem, problem.outputs, axes);
  return {{"name", package.name},
          {"description", problem.title + ": " + problem.description},
          {"op_type", problem.name.substr(0, problem.name.rfind('_'))},
          {"tags", {"status:verified"}},
          {"axes", axes},
          {"constraints", constraints},
          {"inputs", inputs},
          {"outputs", outputs},
          {"reference", reference_of(problem)}};
}

// One tensor of integers in the format of safetensors.
std::string safetensors(const Tensor& tensor, const core::Bindings& axes, uint64_t seed) {
  const int64_t elements = tensor.elements(axes);
  const size_t size = core::size_bytes(tensor.dtype);
  std::vector<int64_t> shape;
  for (const core::Expr& extent : tensor.shape) shape.push_back(extent.eval(axes));
  const bool boolean = tensor.dtype == core::DType::boolean;
  const std::string dtype = boolean ? "BOOL" : size == 8 ? "I64" : size == 4 ? "I32" : "I8";
  std::string header =
      Json{{tensor.name,
            {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {0, elements * static_cast<int64_t>(size)}}}}}
          .dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string out(8, '\0');
  const uint64_t length = header.size();
  std::memcpy(out.data(), &length, sizeof length);
  out += header;
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> draw(tensor.init.least.eval(axes), tensor.init.most.eval(axes));
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t value = draw(random);
    out.append(reinterpret_cast<const char*>(&value), size);  // little-endian: the lowest bytes
  }
  return out;
}

std::string uuid_of(const std::string& hash) {
  return hash.substr(0, 8) + "-" + hash.substr(8, 4) + "-" + hash.substr(12, 4) + "-" + hash.substr(16, 4) + "-" +
         hash.substr(20, 12);
}

// One line; empty if the format cannot describe an input: its random integers have fixed bounds.
std::string workload_line(const Package& package, const benchsuite::Workload& workload, Files& files) {
  const Problem& problem = *package.problem;
  Json inputs = Json::object();
  const std::string uuid = uuid_of(
      core::Hasher().field("problem", benchsuite::content_hash(problem)).field("workload", workload.name).hex());
  Files blobs;
  for (const Tensor& tensor : problem.inputs) {
    if (tensor.init.kind != benchsuite::Init::integers) {
      inputs[tensor.name] = {{"type", "random"}};
      continue;
    }
    if (static_cast<size_t>(tensor.bytes(workload.axes)) > kMostBlobBytes) return "";
    const std::string path = "blob/workloads/" + package.name + "/" + uuid + "_" + tensor.name + ".safetensors";
    blobs[path] = safetensors(tensor, workload.axes, std::hash<std::string>()(uuid));
    inputs[tensor.name] = {{"type", "safetensors"}, {"path", path}, {"tensor_key", tensor.name}};
  }
  files.merge(blobs);
  const Json line{{"definition", package.name},
                  {"workload", {{"axes", workload.axes}, {"inputs", inputs}, {"uuid", uuid}}},
                  {"solution", nullptr},
                  {"evaluation", nullptr}};
  return line.dump() + "\n";
}

Json solution_of(const Package& package, const Files& torch) {
  Json sources = Json::array(), hardware = Json::array();
  for (const auto& [path, text] : torch) {
    if (path.rfind("csrc/", 0) != 0) continue;
    sources.push_back({{"path", path.substr(path.rfind('/') + 1)}, {"content", text}});
  }
  for (const ExportedKernel& kernel : package.kernels) {
    std::string name = kernel.attempt.device;
    if (name.rfind("cuda ", 0) == 0) name.erase(0, 5);
    if (std::find(hardware.begin(), hardware.end(), Json(name)) == hardware.end()) hardware.push_back(name);
  }
  return {{"name", package.name + "_" + package.version()},
          {"definition", package.name},
          {"author", package.kernels[0].attempt.origin},
          {"description", status_line(package) + "\n" + provenance_text(package)},
          {"spec",
           {{"language", "cuda"},
            {"target_hardware", hardware},
            {"entry_point", "binding.cpp::run"},
            {"dependencies", Json::array()},
            {"destination_passing_style", false},
            {"binding", "torch"}}},
          {"sources", sources}};
}
}  // namespace

Files flashinfer_project(const Package& package, const ExportData& data, const std::string& made) {
  package.own_kernels("flashinfer-bench");
  Files files;
  const Files torch = torch_sources(package, data, Registration::module);
  const Json definition = definition_of(package), solution = solution_of(package, torch);
  const std::string type = definition.at("op_type").get<std::string>(), place = type + "/" + package.name;
  std::string workloads, left_out;
  for (const benchsuite::Workload& workload : package.problem->workloads) {
    if (!workload.runs_on("cuda")) continue;
    const std::string line = workload_line(package, workload, files);
    workloads += line;
    if (line.empty()) left_out += (left_out.empty() ? "" : ", ") + workload.name;
  }
  TemplateValues values = common_values(package);
  values["left_out"] = left_out.empty() ? "None." : left_out + ": its integers would take more than 16 MiB.";
  std::string features;
  for (const ExportedKernel& kernel : package.kernels) {
    if (kernel.architecture.size() > 1 && kernel.architecture.back() == 'a') features = kernel.architecture;
  }
  values["architecture_flags"] =
      features.empty()
          ? ""
          : "Set `TORCH_CUDA_ARCH_LIST=" + std::to_string(capability_of(features) / 10) + "." +
                std::to_string(capability_of(features) % 10) +
                "a` there: the kernels were compiled with that architecture's own features, and its builder "
                "leaves them out otherwise.\n";
  files["definitions/" + place + ".json"] = definition.dump(2) + "\n";
  files["solutions/" + place + "/" + solution.at("name").get<std::string>() + ".json"] = solution.dump(2) + "\n";
  files["workloads/" + place + ".jsonl"] = workloads;
  files["README.md"] = fill_file(data.templates, "flashinfer/README.md", values);
  files["LICENSE"] = core::read_file(data.licence);
  files["provenance.json"] = provenance_json(package, "flashinfer-bench", made).dump(2) + "\n";
  return files;
}

}  // namespace results::exporting
