#include <map>
#include <set>

#include "core/error.h"
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

std::string joined(const std::vector<std::string>& all) { return core::join(all, ", "); }

// For each axis, the input and dimension that give its size; other axes are arguments of the operator.
struct Axes {
  std::map<std::string, std::pair<size_t, size_t>> of_inputs;
  std::vector<std::string> arguments;
};

Axes axes_of(const Problem& problem) {
  Axes axes;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    for (size_t d = 0; d < problem.inputs[i].shape.size(); ++d) {
      axes.of_inputs.emplace(problem.inputs[i].shape[d].text(), std::pair(i, d));
    }
  }
  for (const benchsuite::Axis& axis : problem.axes) {
    if (axes.of_inputs.count(axis.name) == 0) axes.arguments.push_back(axis.name);
  }
  return axes;
}

std::string scalar_type(core::DType dtype) {
  static const std::map<core::DType, std::string> kNames{
      {core::DType::f16, "at::kHalf"},   {core::DType::bf16, "at::kBFloat16"}, {core::DType::f32, "at::kFloat"},
      {core::DType::f64, "at::kDouble"}, {core::DType::i8, "at::kChar"},       {core::DType::u8, "at::kByte"},
      {core::DType::i32, "at::kInt"},    {core::DType::u32, "at::kUInt32"},    {core::DType::i64, "at::kLong"}};
  return kNames.at(dtype);
}

void add_binding(const Problem& problem, const Axes& axes, TemplateValues& values) {
  std::vector<std::string> parameters, pointers, results;
  std::string inputs, shape, checks, outputs;
  const auto extent = [&](const core::Expr& expr) {
    return cpp_of(expr, [](const std::string& name) { return "Exact(shape." + safe_name(name) + ")"; }) + ".value";
  };
  for (const Tensor& tensor : problem.inputs) {
    const std::string name = safe_name(tensor.name);
    parameters.push_back("const at::Tensor& " + name + "_");
    if (inputs.empty()) inputs = "  const at::Device device = " + name + "_.device();\n";
    inputs += "  const at::Tensor " + name + " = usable(" + name + "_, " + cpp_string(tensor.name) + ", " +
              scalar_type(tensor.dtype) + ", " + std::to_string(tensor.shape.size()) + ", device);\n";
    pointers.push_back("static_cast<const " + std::string(cpp_type(tensor.dtype)) + "*>(" + name +
                       ".const_data_ptr())");
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      checks += "  TORCH_CHECK(" + name + ".size(" + std::to_string(d) + ") == (" + extent(tensor.shape[d]) + "), " +
                cpp_string(tensor.name + ": dimension " + std::to_string(d) + " must be " + tensor.shape[d].text() +
                           ", not ") +
                " + std::to_string(" + name + ".size(" + std::to_string(d) + ")));\n";
    }
  }
  for (const auto& [axis, place] : axes.of_inputs) {
    const bool is_axis = std::any_of(problem.axes.begin(), problem.axes.end(),
                                     [&, &name = axis](const auto& one) { return one.name == name; });
    if (!is_axis) continue;
    shape += "  shape." + safe_name(axis) + " = " + safe_name(problem.inputs[place.first].name) + ".size(" +
             std::to_string(place.second) + ");\n";
  }
  for (const std::string& axis : axes.arguments) {
    parameters.push_back("int64_t " + safe_name(axis) + "_");
    shape += "  shape." + safe_name(axis) + " = " + safe_name(axis) + "_;\n";
  }
  for (const Tensor& tensor : problem.outputs) {
    const std::string name = safe_name(tensor.name);
    std::vector<std::string> sizes;
    for (const core::Expr& expr : tensor.shape) sizes.push_back(extent(expr));
    outputs += "  at::Tensor " + name + " = at::empty({" + joined(sizes) +
               "}, at::TensorOptions().device(device).dtype(" + scalar_type(tensor.dtype) + "));\n";
    pointers.push_back("static_cast<" + std::string(cpp_type(tensor.dtype)) + "*>(" + name + ".mutable_data_ptr())");
    results.push_back(name);
  }
  const bool one = results.size() == 1;
  values["binding_parameters"] = joined(parameters);
  values["binding_inputs"] = inputs;
  values["binding_shape"] = shape;
  values["binding_checks"] = checks;
  values["binding_outputs"] = outputs;
  values["binding_pointers"] = joined(pointers);
  values["binding_result"] = one ? results[0] : "std::make_tuple(" + joined(results) + ")";
  values["return_type"] =
      one ? "at::Tensor" : "std::tuple<" + joined(std::vector<std::string>(results.size(), "at::Tensor")) + ">";
}

std::string python_value(const core::Expr& expr) {
  return python_of(expr, [](const std::string& name) { return safe_name(name); });
}

std::string python_shape(const Tensor& tensor) {
  std::string out = "(";
  for (const core::Expr& extent : tensor.shape) out += python_value(extent) + ", ";
  return out + ")";
}

// Python code that draws an input from `generator`.
std::string drawn(const Tensor& tensor) {
  const std::string dtype = "torch." + std::string(torch_type(tensor.dtype));
  const std::string common = python_shape(tensor) + ", generator=generator, device=\"cuda\"";
  if (tensor.init.kind == benchsuite::Init::integers) {
    return "torch.randint(" + python_value(tensor.init.least) + ", " + python_value(tensor.init.most) + " + 1, " +
           common + ", dtype=" + dtype + ")";
  }
  if (tensor.init.kind == benchsuite::Init::uniform) {
    return "(torch.rand(" + common + ") * " + std::to_string(tensor.init.high - tensor.init.low) + " + " +
           std::to_string(tensor.init.low) + ").to(" + dtype + ")";
  }
  return "(torch.randn(" + common + ") * " + std::to_string(tensor.init.scale) + ").to(" + dtype + ")";
}

std::string python_cases(const Problem& problem, bool timed) {
  std::string out;
  for (const TestShape& shape : test_shapes(problem)) {
    if (shape.timed == timed) out += "    \"" + shape.name + "\": " + core::Json(shape.axes).dump() + ",\n";
  }
  return out;
}

// Escapes text so that it cannot end its docstring.
std::string in_docstring(const std::string& text) {
  std::string line = core::clean_line(text);
  std::replace(line.begin(), line.end(), '"', '\'');
  std::replace(line.begin(), line.end(), '\\', '/');
  return line;
}

void add_python(const Problem& problem, const Axes& axes, TemplateValues& values) {
  std::vector<std::string> parameters, typed, schema, names, results, made;
  std::string reads, of_case;
  for (const Tensor& tensor : problem.inputs) {
    const std::string name = safe_name(tensor.name);
    parameters.push_back(name);
    names.push_back(name);
    typed.push_back(name + ": torch.Tensor");
    schema.push_back("Tensor " + name);
    made.push_back(drawn(tensor));
  }
  for (const benchsuite::Axis& axis : problem.axes) {
    const std::string name = safe_name(axis.name);
    of_case += "    " + name + " = shape[\"" + axis.name + "\"]\n";
    if (const auto found = axes.of_inputs.find(axis.name); found != axes.of_inputs.end()) {
      reads += "    " + name + " = " + safe_name(problem.inputs[found->second.first].name) + ".shape[" +
               std::to_string(found->second.second) + "]\n";
      continue;
    }
    parameters.push_back(name);
    names.push_back(name);
    typed.push_back(name + ": int");
    schema.push_back("SymInt " + name);
    made.push_back(name);
  }
  for (const Tensor& tensor : problem.outputs) {
    results.push_back(safe_name(problem.inputs[0].name) + ".new_empty(" + python_shape(tensor) + ", dtype=torch." +
                      std::string(torch_type(tensor.dtype)) + ")");
  }
  std::string returns = "Tensor";
  for (size_t i = 1; i < problem.outputs.size(); ++i) returns += ", Tensor";
  if (problem.outputs.size() > 1) returns = "(" + returns + ")";
  values["schema"] = values.at("package") + "(" + joined(schema) + ") -> " + returns;
  values["python_parameters"] = joined(parameters);
  values["python_typed_parameters"] = joined(typed);
  values["python_axes"] = reads;
  values["python_axes_of_case"] = of_case;
  values["python_outputs"] = joined(results);
  values["python_input_names"] = joined(names) + ",";
  values["python_make_inputs"] = joined(made) + ",";
  values["python_cases"] = python_cases(problem, false);
  values["python_benches"] = python_cases(problem, true);
  values["python_title"] = in_docstring(problem.title);
  values["python_doc"] = in_docstring(problem.title + ". " + problem.description);
}

TemplateValues torch_values(const Package& package) {
  TemplateValues values = common_values(package);
  const Axes axes = axes_of(*package.problem);
  add_binding(*package.problem, axes, values);
  add_python(*package.problem, axes, values);
  values["pytorch"] = package.problem->equivalents.pytorch;
  return values;
}
}  // namespace

Files torch_sources(const Package& package, const ExportData& data, const std::string& made,
                    Registration registration) {
  const Problem& problem = *package.problem;
  if (problem.equivalents.pytorch.empty()) {
    throw core::InputError(problem.name, "names no PyTorch equivalent, with which the operator's test compares",
                           "give its problem.json \"equivalents\": {\"pytorch\": ...}, or export --to cuda, whose test "
                           "compares with the reference");
  }
  TemplateValues values = torch_values(package);
  const bool as_module = registration == Registration::module;
  values["torch_header"] = as_module ? "torch/extension.h" : "torch/library.h";
  values["registration"] =
      fill_file(data.templates, as_module ? "torch/as_module.cpp" : "torch/as_library.cpp", values);
  Files files;
  for (const auto& [path, text] : cuda_project(package, data, made)) {
    if (path.rfind("src/", 0) == 0 || path.rfind("include/", 0) == 0) files["csrc/" + path] = text;
  }
  files["csrc/binding.cpp"] = fill_file(data.templates, "torch/binding.cpp", values);
  return files;
}

Files torch_project(const Package& package, const ExportData& data, const std::string& made) {
  Files files = torch_sources(package, data, made, Registration::library);
  TemplateValues values = torch_values(package);
  std::string kernels;
  for (size_t i = 0; i < package.kernels.size(); ++i) {
    std::string list;
    for (const std::string& architecture : compiled_for(package, i)) list += "\"" + architecture.substr(3) + "\", ";
    kernels += "    \"csrc/src/" + package.kernels[i].id + ".cu\": [" + list + "],\n";
  }
  values["setup_kernels"] = kernels + "    \"csrc/src/naive.cu\": [],\n";
  files[package.name + "/__init__.py"] = fill_file(data.templates, "torch/init.py", values);
  files["setup.py"] = fill_file(data.templates, "torch/setup.py", values);
  files["pyproject.toml"] = fill_file(data.templates, "torch/pyproject.toml", values);
  files["tests/test_" + package.name + ".py"] = fill_file(data.templates, "torch/test.py", values);
  files["README.md"] = fill_file(data.templates, "torch/README.md", values);
  files["LICENSE"] = core::read_file(data.licence);
  files["provenance.json"] = provenance_json(package, "pytorch", made).dump(2) + "\n";
  return files;
}

}  // namespace results::exporting
