#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "results/exporting/projects.h"
#include "results/exporting/provenance.h"
#include "results/exporting/torch_values.h"

namespace results::exporting {
namespace {
// csrc/, from values of torch_values.
Files sources_of(const Package& package, const ExportData& data, TemplateValues values, Registration registration) {
  const bool as_module = registration == Registration::module;
  values["torch_header"] = as_module ? "torch/extension.h" : "torch/library.h";
  values["registration"] =
      fill_file(data.templates, as_module ? "torch/as_module.cpp" : "torch/as_library.cpp", values);
  Files files;
  for (const auto& [path, text] : library_sources(package, data)) files["csrc/" + path] = text;
  files["csrc/binding.cpp"] = fill_file(data.templates, "torch/binding.cpp", values);
  return files;
}

void require_equivalent(const benchsuite::Problem& problem) {
  if (!problem.equivalents.pytorch.empty()) return;
  throw core::InputError(problem.name, "names no PyTorch equivalent, with which the operator's test compares",
                         "give its problem.json \"equivalents\": {\"pytorch\": ...}, or export --to cuda, whose test "
                         "compares with the reference");
}

void add_test_parts(const benchsuite::Problem& problem, const ExportData& data, TemplateValues& values) {
  const bool draws_rows = std::ranges::any_of(problem.inputs, [](const benchsuite::Tensor& input) {
    return input.init.has_structured_rows() && input.init.kind != benchsuite::Init::given;
  });
  const bool has_rules = std::ranges::any_of(problem.outputs, [](const benchsuite::Tensor& output) {
    return output.comparison.rule != benchsuite::OutputRule::elements;
  });
  values["python_rules"] = python_rules(problem);
  values["python_compared"] = has_rules ? "check_by_rules(self, got, eager, right, inputs)" : "zip(got, eager, right)";
  values["drawing"] = draws_rows ? fill_file(data.templates, "torch/drawing.py", values) : "";
  values["rules"] = has_rules ? fill_file(data.templates, "torch/rules.py", values) : "";
  values["comparison"] = fill_file(data.templates, "torch/comparison.py", values);
  values["timing"] = fill_file(data.templates, "torch/timing.py", values);
}

// The operator, the test that compares it with the problem's equivalent, and the README.
Files operator_of(const Package& package, const ExportData& data) {
  require_equivalent(*package.problem);
  TemplateValues values = torch_values(package);
  add_test_parts(*package.problem, data, values);
  Files files = sources_of(package, data, values, Registration::library);
  files[package.name + "/__init__.py"] = fill_file(data.templates, "torch/init.py", values);
  files["tests/test_" + package.name + ".py"] = fill_file(data.templates, "torch/test.py", values);
  files["README.md"] = fill_file(data.templates, "torch/README.md", values);
  return files;
}

// The same around reference.py, which computes what no kernel does and which the test compares with.
Files function_of(const Package& package, const ExportData& data) {
  TemplateValues values = torch_values(package);
  add_reference_values(package, data, values);
  add_test_parts(*package.problem, data, values);
  Files files = sources_of(package, data, values, Registration::library);
  files[package.name + "/__init__.py"] = fill_file(data.templates, "torch/init_reference.py", values);
  files[package.name + "/reference.py"] = package.problem->files.find(benchsuite::kPytorchFile)->second;
  files["tests/test_" + package.name + ".py"] = fill_file(data.templates, "torch/test_reference.py", values);
  files["README.md"] = fill_file(data.templates, "torch/README_reference.md", values);
  return files;
}
}  // namespace

Files torch_sources(const Package& package, const ExportData& data, Registration registration) {
  require_equivalent(*package.problem);
  return sources_of(package, data, torch_values(package), registration);
}

Files torch_project(const Package& package, const ExportData& data, const std::string& made) {
  Files files = package.own ? operator_of(package, data) : function_of(package, data);
  TemplateValues values = common_values(package);
  std::string kernels;
  for (size_t i = 0; i < package.kernels.size(); ++i) {
    std::string list;
    for (const std::string& architecture : compiled_for(package, i)) list += "\"" + architecture.substr(3) + "\", ";
    kernels += "    \"csrc/src/" + package.kernels[i].id + ".cu\": [" + list + "],\n";
  }
  values["setup_kernels"] = kernels + (package.own ? "    \"csrc/src/naive.cu\": [],\n" : "");
  files["setup.py"] = fill_file(data.templates, "torch/setup.py", values);
  files["pyproject.toml"] = fill_file(data.templates, "torch/pyproject.toml", values);
  files["LICENSE"] = core::read_file(data.licence);
  files["provenance.json"] = provenance_json(package, "pytorch", made).dump(2) + "\n";
  return files;
}

}  // namespace results::exporting
