#include <algorithm>
#include <optional>
#include <regex>

#include "core/error.h"
#include "core/text.h"
#include "results/exporting/names.h"
#include "results/exporting/torch_values.h"

namespace results::exporting {
namespace {
using benchsuite::Problem;
using benchsuite::Tensor;

// The parts of an imported problem's reference.py, which benchsuite/import/problem_writer.py writes.
struct ImportedModule {
  std::string file;
  std::vector<std::pair<std::string, std::string>> parameters;  // the input, and the module's name of it
};

std::optional<ImportedModule> imported_module(const std::string& reference) {
  static const std::regex kHead("\"\"\"Made by kernelwright import from (.*); what it imported is SOURCE\\.\"\"\"");
  static const std::regex kPair("'(\\w+)': '([\\w.]+)'");
  constexpr std::string_view kTable = "\nPARAMETERS = {";
  const std::string first = reference.substr(0, reference.find('\n'));
  const size_t table = reference.rfind(kTable);
  std::smatch head;
  if (!std::regex_match(first, head, kHead) || table == std::string::npos) return std::nullopt;
  ImportedModule module{core::clean_line(head[1].str(), 100), {}};
  const std::string line = reference.substr(table + 1, reference.find('\n', table + 1) - table - 1);
  for (std::sregex_iterator pair(line.begin(), line.end(), kPair), end; pair != end; ++pair) {
    module.parameters.emplace_back((*pair)[1], (*pair)[2]);
  }
  return module;
}

std::string dtype_of(const Tensor& tensor) { return "torch." + std::string(torch_type(tensor.dtype)); }

// A Python condition that a size is in the axis's domain.
std::string in_domain(const benchsuite::Axis& axis) {
  const std::string name = safe_name(axis.name);
  std::string values;
  for (const int64_t value : axis.values) values += std::to_string(value) + ", ";
  if (!values.empty()) return name + " in (" + values + ")";
  const std::string range = std::to_string(axis.min) + " <= " + name + " <= " + std::to_string(axis.max);
  return axis.multiple_of == 1 ? range : range + " and " + name + " % " + std::to_string(axis.multiple_of) + " == 0";
}

void add_shapes(const Problem& problem, TemplateValues& values) {
  std::string checks, table = "| input | dtype | shape |\n|---|---|---|\n", axes;
  for (const benchsuite::Axis& axis : problem.axes) {
    checks += "    if not (" + in_domain(axis) + "):\n        return f\"" + axis.name + " is {" + safe_name(axis.name) +
              "}, and must be " + axis.domain() + "\"\n";
    axes += "- `" + axis.name + "`: " + core::clean_line(axis.description) + ", " + axis.domain() + "\n";
  }
  for (const Tensor& tensor : problem.inputs) {
    const std::string name = safe_name(tensor.name);
    checks += "    if tuple(" + name + ".shape) != " + python_shape(tensor) + ":\n        return f\"" + name +
              " has the shape {list(" + name + ".shape)}, and must have " + shape_text(tensor) + "\"\n";
    table += "| `" + name + "` | " + std::string(torch_type(tensor.dtype)) + " | " + shape_text(tensor) + " |\n";
  }
  values["python_shape_checks"] = checks;
  values["domain_table"] = table + "\n" + axes;
}

void add_tables(const Problem& problem, TemplateValues& values) {
  std::vector<std::string> names, pairs, dtypes, dimensions, outputs, scalars;
  for (const Tensor& tensor : problem.inputs) {
    const std::string name = safe_name(tensor.name);
    names.push_back(name);
    pairs.push_back("\"" + name + "\": \"" + tensor.name + "\"");
    dtypes.push_back(dtype_of(tensor));
    dimensions.push_back(std::to_string(tensor.shape.size()));
  }
  for (const Tensor& tensor : problem.outputs) outputs.push_back(dtype_of(tensor));
  for (const benchsuite::NamedScalar& scalar : problem.scalars) {
    scalars.push_back("\"" + scalar.name + "\": " + core::json_of(scalar.value).dump());
  }
  values["python_tensor_names"] = core::join(names, ", ");
  values["python_input_table"] = core::join(pairs, ", ");
  values["python_input_dtypes"] = core::join(dtypes, ", ");
  values["python_dimensions"] = core::join(dimensions, ", ");
  values["python_output_dtypes"] = core::join(outputs, ", ");
  values["python_scalar_table"] = core::join(scalars, ", ");
  values["python_tf"] = problem.contract.tf32 ? "True" : "False";
}

// The README's part on a call in place of the original's.
std::string drop_in_section(const Package& package, const ImportedModule& module, const TorchAxes& axes) {
  std::vector<std::string> call;
  std::string parameters;
  for (const Tensor& tensor : package.problem->inputs) {
    const auto same = [&](const auto& pair) { return pair.first == tensor.name; };
    const auto found = std::find_if(module.parameters.begin(), module.parameters.end(), same);
    const std::string name = safe_name(tensor.name);
    if (found == module.parameters.end()) {
      call.push_back(name + "=" + name);
    } else {
      parameters += (parameters.empty() ? "`" : ", `") + name + "` is its `" + found->second + "`";
    }
  }
  for (const std::string& axis : axes.arguments) call.push_back(safe_name(axis) + "=" + safe_name(axis));
  const bool with_parameters = !parameters.empty();
  if (with_parameters) call.emplace_back("**parameters_of(model)");
  std::string out = "## In place of the original\n\n    from " + package.name + " import " + package.name +
                    (with_parameters ? ", parameters_of" : "") +
                    "\n    with torch.no_grad():\n        result = " + package.name + "(" + core::join(call, ", ") +
                    ")   # in place of model(...)\n\n`model` is what was imported from " + module.file;
  out += with_parameters ? ", with whatever parameters it has now: " + parameters + ".\n" : ".\n";
  out +=
      "Everything else is as its constructor makes it: buffers, constants, and train mode, in which batch norm takes "
      "the "
      "batch's own\nstatistics; but dropout is off. Call it by names: inputs stand in the order of their names.\n\n";
  for (const std::string& remark : package.remarks) out += "- " + core::clean_line(remark) + "\n";
  return out + (package.remarks.empty() ? "" : "\n");
}

void add_drop_in(const Package& package, const ExportData& data, TemplateValues& values) {
  const auto module = imported_module(package.problem->files.find(benchsuite::kPytorchFile)->second);
  values["python_names"] = "\"" + package.name + "\", \"why_eager\"";
  values["python_drop_in"] = values["drop_in_test"] = values["drop_in_section"] = "";
  if (!module) return;
  values["drop_in_section"] = drop_in_section(package, *module, torch_axes(*package.problem));
  if (module->parameters.empty()) return;
  std::vector<std::string> pairs;
  for (const auto& [input, theirs] : module->parameters) {
    pairs.push_back("\"" + safe_name(input) + "\": \"" + theirs + "\"");
  }
  values["python_names"] += ", \"parameters_of\"";
  values["python_parameter_table"] = core::join(pairs, ", ");
  values["python_drop_in"] = fill_file(data.templates, "torch/drop_in.py", values);
  values["drop_in_test"] = fill_file(data.templates, "torch/drop_in_test.py", values);
}
// Inputs of its own, which inputs() of reference.py draws.
void add_given(const Problem& problem, TemplateValues& values) {
  values["python_given"] = "";
  const auto is_given = [](const Tensor& input) { return input.init.kind == benchsuite::Init::given; };
  const auto given = std::ranges::find_if(problem.inputs, is_given);
  if (given == problem.inputs.end()) return;
  static const std::regex kDraws("(^|\\n)def inputs\\(");
  if (!std::regex_search(problem.files.find(benchsuite::kPytorchFile)->second, kDraws)) {
    throw core::InputError(problem.name,
                           "files give its input " + given->name +
                               ", and an export, which has none of them, could not "
                               "test itself",
                           "write inputs(axes, generator) in reference.py and judge the kernel again");
  }
  values["python_given"] =
      "    torch.manual_seed(seed)  # inputs() may draw from it\n"
      "    given = reference.inputs(dict(shape), torch.Generator().manual_seed(seed))\n";
}
}  // namespace

void add_reference_values(const Package& package, const ExportData& data, TemplateValues& values) {
  const Problem& problem = *package.problem;
  add_shapes(problem, values);
  add_tables(problem, values);
  add_drop_in(package, data, values);
  add_given(problem, values);
  const bool imports_reference = !values.at("python_given").empty() || !values.at("drop_in_test").empty();
  values["reference_import"] = imports_reference ? "from " + package.name + " import reference  # noqa: E402\n" : "";
  std::string schema = values.at("schema");  // "NAME(Tensor x, SymInt N) -> Tensor"
  schema = "forward_in_eager" + schema.substr(package.name.size());
  for (size_t at = schema.find("SymInt "); at != std::string::npos; at = schema.find("SymInt ")) {
    schema.replace(at, 6, "int");
  }
  values["dispatcher_include"] = "#include <ATen/core/dispatch/Dispatcher.h>\n";
  values["eager_function"] = fill_file(data.templates, "torch/eager.cpp", values);
  values["eager_schema"] = "  library.def(\"" + schema + "\");\n";
  values["eager_call"] =
      "  if (status.code == lib::Code::unsupported) return in_eager(" + values.at("binding_arguments") + ");\n";
}

}  // namespace results::exporting
