#include "results/exporting/torch_values.h"

#include <algorithm>

#include "core/text.h"
#include "results/exporting/expressions.h"
#include "results/exporting/names.h"

namespace results::exporting {
namespace {
using benchsuite::Problem;
using benchsuite::Tensor;

std::string joined(const std::vector<std::string>& all) { return core::join(all, ", "); }

std::string scalar_type(core::DType dtype) {
  static const std::map<core::DType, std::string> kNames{{core::DType::f16, "at::kHalf"},
                                                         {core::DType::bf16, "at::kBFloat16"},
                                                         {core::DType::f8e4m3, "at::kFloat8_e4m3fn"},
                                                         {core::DType::f8e5m2, "at::kFloat8_e5m2"},
                                                         {core::DType::f32, "at::kFloat"},
                                                         {core::DType::f64, "at::kDouble"},
                                                         {core::DType::i8, "at::kChar"},
                                                         {core::DType::u8, "at::kByte"},
                                                         {core::DType::i32, "at::kInt"},
                                                         {core::DType::u32, "at::kUInt32"},
                                                         {core::DType::i64, "at::kLong"},
                                                         {core::DType::boolean, "at::kBool"}};
  return kNames.at(dtype);
}

void add_binding(const Problem& problem, const TorchAxes& axes, TemplateValues& values) {
  std::vector<std::string> parameters, arguments, pointers, results;
  std::string inputs, shape, checks, outputs;
  const auto extent = [&](const core::Expr& expr) {
    return "(" + cpp_of(expr, [](const std::string& name) { return "Exact(shape." + safe_name(name) + ")"; }) +
           ").value";
  };
  for (const Tensor& tensor : problem.inputs) {
    const std::string name = safe_name(tensor.name);
    parameters.push_back("const at::Tensor& " + name + "_");
    arguments.push_back(name + "_");
    if (inputs.empty()) inputs = "  const at::Device device = " + name + "_.device();\n";
    inputs += "  const at::Tensor " + name + " = usable(" + name + "_, " + cpp_string(tensor.name) + ", " +
              scalar_type(tensor.dtype) + ", " + std::to_string(tensor.shape.size()) + ", device);\n";
    pointers.push_back("static_cast<const " + std::string(cpp_type(tensor.dtype)) + "*>(" + name +
                       ".const_data_ptr())");
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      checks += "  TORCH_CHECK(" + name + ".size(" + std::to_string(d) + ") == " + extent(tensor.shape[d]) + ", " +
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
    arguments.push_back(safe_name(axis) + "_");
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
  values["binding_arguments"] = joined(arguments);
  values["binding_inputs"] = inputs;
  values["binding_shape"] = shape;
  values["binding_checks"] = checks;
  values["binding_outputs"] = outputs;
  values["binding_pointers"] = joined(pointers);
  values["binding_result"] = one ? results[0] : "std::make_tuple(" + joined(results) + ")";
  values["return_type"] =
      one ? "at::Tensor" : "std::tuple<" + joined(std::vector<std::string>(results.size(), "at::Tensor")) + ">";
}

// Python code that draws an input from `generator`.
std::string drawn(const Tensor& tensor) {
  const std::string dtype = "torch." + std::string(torch_type(tensor.dtype));
  const std::string common = python_shape(tensor) + ", generator=generator, device=DEVICE";
  const std::string rows = python_shape(tensor) + ", " + dtype + ", generator)";
  switch (tensor.init.kind) {
    case benchsuite::Init::given:
      return "given[\"" + tensor.name + "\"].to(DEVICE, " + dtype + ").contiguous()";
    case benchsuite::Init::permutation:
      return "permutations(" + rows;
    case benchsuite::Init::probabilities:
      return "probabilities(" + rows;
    case benchsuite::Init::sorted:
      if (core::is_floating(tensor.dtype)) {
        return "sorted_numbers(" + std::to_string(tensor.init.low) + ", " + std::to_string(tensor.init.high) + ", " +
               rows;
      }
      return "sorted_integers(" + python_value(tensor.init.least) + ", " + python_value(tensor.init.most) + ", " + rows;
    default:
      break;
  }
  if (tensor.init.kind == benchsuite::Init::integers) {
    return "torch.randint(" + python_value(tensor.init.least) + ", " + python_value(tensor.init.most) + " + 1, " +
           common + (core::is_f8(tensor.dtype) ? ").to(" + dtype + ")" : ", dtype=" + dtype + ")");
  }
  if (tensor.init.kind == benchsuite::Init::uniform) {
    return "(torch.rand(" + common + ") * " + std::to_string(tensor.init.high - tensor.init.low) + " + " +
           std::to_string(tensor.init.low) + ").to(" + dtype + ")";
  }
  const std::string triangle = !tensor.init.is_triangular()                             ? ""
                               : tensor.init.kind == benchsuite::Init::upper_triangular ? ".triu()"
                                                                                        : ".tril()";
  return "(torch.randn(" + common + ") * " + std::to_string(tensor.init.scale) + ")" + triangle + ".to(" + dtype + ")";
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

// The body of sums_of in comparison.py. As in test/compare.h, terms that the contract counts are about as large as the
// outputs.
void add_sums(const Problem& problem, TemplateValues& values) {
  const bool is_floating = core::is_floating(problem.contract.accumulate);
  values["python_accumulate"] = is_floating ? torch_type(problem.contract.accumulate) : "float32";
  values["python_sums"] =
      problem.contract.sums
          ? values.at("python_axes_of_case") + "    return " + python_value(*problem.contract.sums) + ", 0\n"
          : "    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]\n"
            "    terms = max(x.numel() for x in tensors) / output.numel()\n"
            "    largest = max([rms(x) for x in tensors if x.is_floating_point()] + [0])\n"
            "    return terms, largest * terms**0.5 if terms > 1 else 0\n";
}

void add_python(const Problem& problem, const TorchAxes& axes, TemplateValues& values) {
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
  values["python_axes_of_case"] = of_case + python_scalars(problem);
  values["python_outputs"] = joined(results);
  values["python_input_names"] = joined(names) + ",";
  values["python_make_inputs"] = joined(made) + ",";
  values["python_cases"] = python_cases(problem, false);
  values["python_benches"] = python_cases(problem, true);
  add_sums(problem, values);
  values["python_title"] = in_docstring(problem.title);
  values["python_doc"] = in_docstring(problem.title + ". " + problem.description);
}
}  // namespace

TorchAxes torch_axes(const Problem& problem) {
  TorchAxes axes;
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

std::string python_value(const core::Expr& expr) {
  return python_of(expr, [](const std::string& name) { return safe_name(name); });
}

std::string python_shape(const Tensor& tensor) {
  std::string out = "(";
  for (const core::Expr& extent : tensor.shape) out += python_value(extent) + ", ";
  return out + ")";
}

std::string python_rules(const Problem& problem) {
  const auto place_of = [](const std::vector<Tensor>& tensors, const std::string& name) {
    const auto found = std::ranges::find(tensors, name, &Tensor::name);
    return found == tensors.end() ? std::string("None") : std::to_string(found - tensors.begin());
  };
  std::string rules;
  for (const Tensor& output : problem.outputs) {
    const benchsuite::OutputComparison& how = output.comparison;
    rules += "(\"" + std::string(benchsuite::name_of(how.rule)) + "\", ";
    if (how.rule == benchsuite::OutputRule::indices) {
      rules += place_of(problem.inputs, how.into) + ", " + place_of(problem.outputs, how.values) + ", " +
               (how.in_any_order ? "True" : "False");
    }
    rules += "), ";
  }
  return rules;
}

TemplateValues torch_values(const Package& package) {
  TemplateValues values = common_values(package);
  for (const char* only_of_reference : {"dispatcher_include", "eager_function", "eager_call", "eager_schema"}) {
    values[only_of_reference] = "";
  }
  const TorchAxes axes = torch_axes(*package.problem);
  add_binding(*package.problem, axes, values);
  add_python(*package.problem, axes, values);
  const benchsuite::Equivalents& equivalents = package.problem->equivalents;
  values["pytorch"] = equivalents.call();
  values["pytorch_definition"] = equivalents.definition().empty() ? "" : equivalents.definition() + "\n\n";
  return values;
}

}  // namespace results::exporting
