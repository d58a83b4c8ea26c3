#include <algorithm>
#include <regex>

#include "core/error.h"
#include "core/text.h"
#include "results/exporting/projects.h"
#include "results/exporting/provenance.h"
#include "results/exporting/template_values.h"

namespace results::exporting {
namespace {
void require_portable(const Package& package) {
  const auto refuse = [&](const std::string& what) {
    throw core::InputError(package.problem->name, what + ", which HIP lacks", "export --to cuda");
  };
  for (const ExportedKernel& kernel : package.kernels) {
    if (!kernel.solution.tensor_maps.empty()) refuse(kernel.id + " uses tensor maps");
    for (const sandbox::Launch& launch : kernel.solution.launches) {
      const bool clustered =
          launch.cluster[0].text() != "1" || launch.cluster[1].text() != "1" || launch.cluster[2].text() != "1";
      if (clustered) refuse(kernel.id + " launches clusters");
      if (launch.overlaps_previous) refuse(kernel.id + " has a launch that overlaps the previous one");
    }
  }
  for (const auto* tensors : {&package.problem->inputs, &package.problem->outputs}) {
    for (const benchsuite::Tensor& tensor : *tensors) {
      if (tensor.dtype == core::DType::bf16) refuse(tensor.name + " uses CUDA's bf16");
      if (core::is_f8(tensor.dtype)) refuse(tensor.name + " uses CUDA's fp8");
    }
  }
  const ProblemKernels& both = package.own_kernels("hip");
  for (const sandbox::Solution* own : {&both.naive, &both.reference}) {
    const auto& backends = own->backends;
    if (!backends.empty() && std::find(backends.begin(), backends.end(), "hip") == backends.end()) {
      refuse(own->file + ", which every export carries, does not list the backend hip");
    }
  }
}

// Replaces the CUDA runtime's names in our host code and in kernels' includes. HIP kept all others.
std::string in_hip(std::string text) {
  static const std::pair<std::regex, const char*> kWords[] = {
      {std::regex(R"("cuda", "hip")"), R"("hip")"},
      {std::regex(R"(.*cudaCtxResetPersistingL2Cache.*\n)"), ""},
      {std::regex(R"(<cuda_runtime(_api)?\.h>)"), "<hip/hip_runtime.h>"},
      {std::regex(R"(([<"])cuda_fp16\.h([>"]))"), "$1hip/hip_fp16.h$2"},
      {std::regex(R"(([<"])cooperative_groups\.h([>"]))"), "$1hip/hip_cooperative_groups.h$2"},
      {std::regex(R"(\bcudaDeviceProp\b)"), "hipDeviceProp_t"},
      {std::regex(R"(\bcudaDevAttr)"), "hipDeviceAttribute"},
      {std::regex(R"(\bcuda([A-Z]))"), "hip$1"},
      {std::regex(R"(\bcuda_error\b)"), "hip_error"},
      {std::regex(R"(\bcuda\b)"), "hip"}};
  for (const auto& [word, with] : kWords) text = std::regex_replace(text, word, with);
  return text;
}

// "src/a.cu" becomes "src/a.hip"; hipcc also compiles the host code.
std::string hip_path(const std::string& path) {
  for (const std::string end : {".cu", ".cpp"}) {
    if (path.size() > end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0) {
      return path.substr(0, path.size() - end.size()) + ".hip";
    }
  }
  return path;
}

// In clang, host constants are visible on the device, but not the functions that they point to.
std::string for_the_host_alone(std::string text, const std::string& package) {
  const size_t begin = text.rfind("\nnamespace " + package + " {\n");
  if (begin == std::string::npos) throw core::SystemError("a kernel's file does not end with its launch plan");
  return text.insert(begin, "\n#ifndef __HIP_DEVICE_COMPILE__") + "#endif\n";
}
}  // namespace

Files hip_project(const Package& package, const ExportData& data, const std::string& made) {
  require_portable(package);
  TemplateValues values = common_values(package);
  Files files;
  for (const auto& [path, text] : cuda_project(package, data, made)) {
    const bool code = path.rfind("src/", 0) == 0 || path.rfind("include/", 0) == 0 || path.rfind("test/", 0) == 0;
    if (!code) continue;
    const bool kernel = path.find(".cu") != std::string::npos && path != "test/selftest.cu";
    files[hip_path(path)] = in_hip(kernel ? for_the_host_alone(text, package.name) : text);
  }
  files["src/launch.h"] = fill_file(data.templates, "hip/launch.h", values);
  files["Makefile"] = fill_file(data.templates, "hip/Makefile", values);
  files["README.md"] = fill_file(data.templates, "hip/README.md", values);
  files["LICENSE"] = core::read_file(data.licence);
  files["provenance.json"] = provenance_json(package, "hip", made).dump(2) + "\n";
  return files;
}

}  // namespace results::exporting
