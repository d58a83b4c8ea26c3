#include "core/text.h"
#include "results/exporting/names.h"
#include "results/exporting/projects.h"
#include "results/exporting/provenance.h"
#include "results/exporting/template_values.h"

namespace results::exporting {
namespace {
void add_example(const Package& package, const ExportData& data, TemplateValues values, Files& files) {
  const benchsuite::Problem& problem = *package.problem;
  core::Bindings axes;
  for (const benchsuite::Workload& workload : problem.workloads) axes = workload.axes;
  std::string shape, bytes;
  for (const benchsuite::Axis& axis : problem.axes)
    shape += (shape.empty() ? "" : ", ") + std::to_string(axes[axis.name]);
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *tensors) {
      bytes += (bytes.empty() ? "" : ", ") + std::to_string(tensor.bytes(axes));
    }
  }
  values["example_shape"] = shape;
  values["example_bytes"] = bytes;
  files["example/CMakeLists.txt"] = fill_file(data.templates, "cuda/example_CMakeLists.txt", values);
  files["example/main.cpp"] = fill_file(data.templates, "cuda/example_main.cpp", values);
}
}  // namespace

Files library_sources(const Package& package, const ExportData& data) {
  TemplateValues values = common_values(package);
  values["types"] = fill_file(data.templates, "common/types.h", values);
  Files files;
  for (const ExportedKernel& kernel : package.kernels) {
    files["src/" + kernel.id + ".cu"] =
        values.at("provenance_comment") + kernel_file(package, kernel.solution, kernel.binding, kernel.id, "detail");
  }
  if (package.own) {
    const sandbox::Solution& naive = package.own->naive;
    files["src/naive.cu"] = as_comment("Runs anywhere: the naive solution of " + package.problem->name + ".") +
                            kernel_file(package, naive, sandbox::default_binding(naive), "naive", "detail");
  }
  files["include/" + package.name + ".h"] = fill_file(data.templates, "cuda/api.h", values);
  files["src/plan.h"] = fill_file(data.templates, "common/plan.h", values);
  files["src/dispatch.h"] = fill_file(data.templates, "common/dispatch.h", values);
  files["src/launch.h"] = fill_file(data.templates, "cuda/launch.h", values);
  files["src/dispatch.cpp"] = fill_file(data.templates, "cuda/dispatch.cpp", values);
  return files;
}

Files cuda_project(const Package& package, const ExportData& data, const std::string& made) {
  const ProblemKernels& own = package.own_kernels("cuda");
  TemplateValues values = common_values(package);
  Files files = library_sources(package, data);
  std::string targets;
  for (size_t i = 0; i < package.kernels.size(); ++i) {
    targets += "kernel(" + package.kernels[i].id;
    for (const std::string& architecture : compiled_for(package, i)) targets += " " + architecture.substr(3) + "-real";
    targets += ")\n";
  }
  values["kernel_targets"] = targets + "kernel(naive)\n";
  values["default_architectures"] = "80 90 100";
  files["test/subject.h"] = fill_file(data.templates, "cuda/subject.h", values);
  add_tests(package, own, data, values, files);
  add_example(package, data, values, files);
  files["CMakeLists.txt"] = fill_file(data.templates, "cuda/CMakeLists.txt", values);
  files["cmake/" + package.name + "Config.cmake.in"] = fill_file(data.templates, "cuda/Config.cmake.in", values);
  files["README.md"] = fill_file(data.templates, "cuda/README.md", values);
  files["LICENSE"] = core::read_file(data.licence);
  files["provenance.json"] = provenance_json(package, "cuda", made).dump(2) + "\n";
  return files;
}

}  // namespace results::exporting
