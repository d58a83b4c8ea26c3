#include <algorithm>

#include "core/text.h"
#include "results/exporting/device_source.h"
#include "results/exporting/names.h"
#include "results/exporting/plan_code.h"
#include "results/exporting/projects.h"
#include "results/exporting/provenance.h"
#include "results/exporting/template_values.h"

namespace results::exporting {
namespace {
// Replaces the toolkit's <cuda.h>, whose host functions NVRTC rejects.
constexpr const char* kDriverHeader =
    "#pragma once\ntypedef struct CUtensorMap_st {\n  alignas(128) unsigned long long opaque[16];\n} CUtensorMap;\n";

struct Entry {
  std::string id;
  const sandbox::Solution* solution;
  sandbox::TunableBinding binding;
};

constexpr const char* kFormat = "header";

std::vector<Entry> entries_of(const Package& package) {
  std::vector<Entry> entries;
  for (const ExportedKernel& kernel : package.kernels) entries.push_back({kernel.id, &kernel.solution, kernel.binding});
  const sandbox::Solution& naive = package.own_kernels(kFormat).naive;
  entries.push_back({"naive", &naive, sandbox::default_binding(naive)});
  return entries;
}

// Any text as a raw string literal.
std::string raw_string(const std::string& text) {
  std::string mark = "cu";
  while (text.find(")" + mark + "\"") != std::string::npos) mark += "u";
  return "R\"" + mark + "(" + text + ")" + mark + "\"";
}

// A template without the lines that only a separate file needs.
std::string as_part(const std::string& text) {
  std::string out;
  for (const std::string& line : core::split(text, '\n')) {
    if (line.rfind("#include", 0) != 0 && line != "#pragma once") out += line + "\n";
  }
  return out;
}

std::string list_of_strings(const std::string& name, const std::vector<std::string>& all) {
  std::string out = "inline constexpr const char* " + name + "[] = {";
  for (const std::string& one : all) out += cpp_string(one) + ", ";
  return out + (all.empty() ? "nullptr" : "") + "};\n";
}

std::string bytes_of(const std::string& binary) {
  std::string out;
  for (size_t i = 0; i < binary.size(); ++i) {
    out += std::to_string(static_cast<unsigned char>(binary[i])) + (i % 32 == 31 ? ",\n" : ",");
  }
  return out;
}

// The entry's text with macros, or its binaries; `members` receives the values of the last members of its Source.
std::string payload_of(const Entry& entry, const KernelBinaries& binaries, std::string& members) {
  if (binaries.empty()) {
    std::vector<std::string> macros;
    for (const auto& [name, value] : entry.binding) macros.push_back("-D" + name + "=" + std::to_string(value));
    members = "text_" + entry.id + ", " + std::to_string(macros.size()) + ", macros_" + entry.id;
    return "inline constexpr char text_" + entry.id + "[] = " + raw_string(entry.solution->source) + ";\n" +
           list_of_strings("macros_" + entry.id, macros);
  }
  std::string out, table;
  const std::vector<KernelBinary>& own = binaries.at(entry.id);
  for (const KernelBinary& binary : own) {
    const std::string name = "binary_" + entry.id + "_" + binary.architecture;
    out += "alignas(16) inline constexpr unsigned char " + name + "[] = {\n" + bytes_of(binary.cubin) + "};\n";
    table += "{" + std::to_string(capability_of(binary.architecture)) + ", " +
             (binary.architecture.back() == 'a' ? "true" : "false") + ", " + name + "}, ";
  }
  members = std::to_string(own.size()) + ", binaries_" + entry.id;
  return out + "inline constexpr Binary binaries_" + entry.id + "[] = {" +
         (own.empty() ? "{0, true, nullptr}" : table) + "};\n";
}

std::string sources_of(const Package& package, const KernelBinaries& binaries, const ExportData& data) {
  std::string out;
  if (binaries.empty()) {
    out += "// Declarations for every kernel.\ninline constexpr char kPrelude[] = " +
           raw_string(core::read_file(data.prelude)) +
           ";\ninline constexpr char kDriverHeader[] = " + raw_string(kDriverHeader) + ";\n\n";
  }
  for (const Entry& entry : entries_of(package)) {
    std::string members;
    const std::vector<std::string> kernels = kernels_of(*entry.solution);
    out += payload_of(entry, binaries, members) + list_of_strings("names_" + entry.id, kernels) +
           plan_function(*package.problem, *entry.solution, entry.binding, "plan_" + entry.id) +
           "inline constexpr Source source_" + entry.id + " = {" + cpp_string(entry.id) + ", " +
           std::to_string(capability_of(entry.solution->arch)) + ", &plan_" + entry.id + ", " +
           std::to_string(kernels.size()) + ", names_" + entry.id + ", " + members + "};\n\n";
  }
  return out;
}

void add_tables(const Package& package, TemplateValues& values) {
  std::string list, routes;
  size_t most_functions = 1;
  const std::vector<Entry> entries = entries_of(package);
  for (const Entry& entry : entries) {
    list += "&source_" + entry.id + ", ";
    most_functions = std::max(most_functions, kernels_of(*entry.solution).size());
  }
  for (const Route& route : package.routes) {
    routes += "    {" + std::to_string(route.kernel) + ", " + std::to_string(capability_of(route.architecture)) +
              ", Shape{" + axis_values(*package.problem, route.shape) + "}},\n";
  }
  values["source_list"] = list;
  values["kernel_count"] = std::to_string(entries.size());
  values["most_functions"] = std::to_string(most_functions);
  values["route_entries"] = routes;
}

void add_words(bool compiled, TemplateValues& values) {
  values["payload_words"] = compiled ? "binaries" : "source";
  values["nvrtc_words"] = compiled ? "" : " and libnvrtc";
  values["nvrtc_include"] = compiled ? "" : "#include <nvrtc.h>\n";
  values["nvrtc_target"] = compiled ? "" : " CUDA::nvrtc";
  values["link_words"] = compiled ? "-lcuda" : "-lcuda -lnvrtc";
  values["load_arguments"] = compiled ? "" : "TOOLKIT_INCLUDE, &log";
  values["load_example"] = compiled ? "" : "\"/usr/local/cuda/include\"";
  values["payload_paragraph"] =
      compiled ? "It contains binaries for the listed architectures and launches them through CUDA's driver interface, "
                 "without nvcc, NVRTC or the CUDA runtime."
               : "It contains the kernels' source and compiles it with NVRTC for the present device when it is loaded; "
                 "it launches through CUDA's driver interface, without nvcc or the CUDA runtime.";
  values["source_members"] = compiled ? "  int binaries;\n  const Binary* binary;\n"
                                      : "  const char* text;\n  int macros;\n  const char* const* macro;\n";
  values["binary_struct"] =
      compiled ? "struct Binary {\n  int architecture;  // 10 * major + minor\n  bool only;         // for no "
                 "other one\n  const unsigned char* bytes;\n};\n\n"
               : "";
}
}  // namespace

Files header_project(const Package& package, const ExportData& data, const std::string& made,
                     const KernelBinaries& binaries) {
  const bool compiled = !binaries.empty();
  Package tests = package;
  tests.name = package.name + "_test";
  TemplateValues test_values = common_values(tests), values = common_values(package);
  Files files;

  test_values["types"] = fill_file(data.templates, "common/types.h", test_values);
  test_values["api_include"] = "#include \"" + package.name + "_types.h\"";
  files["test/" + package.name + "_types.h"] = fill_file(data.templates, "test/types.h", test_values);
  files["test/plan.h"] = fill_file(data.templates, "common/plan.h", test_values);
  files["test/launch.h"] = fill_file(data.templates, "cuda/launch.h", test_values);
  add_tests(tests, package.own_kernels(kFormat), data, test_values, files);

  values["error_type"] = "CUresult";
  values["no_error"] = "CUDA_SUCCESS";
  values["api_include"] = "";
  values["open_test"] = test_values.at("open");
  values["close_test"] = test_values.at("close");
  add_words(compiled, values);
  add_tables(package, values);
  values["types"] = fill_file(data.templates, "common/types.h", values);
  values["plan"] = as_part(fill_file(data.templates, "common/plan.h", values));
  values["dispatch"] = as_part(fill_file(data.templates, "common/dispatch.h", values));
  values["driver_launch"] = fill_file(data.templates, "header/launch.h", values);
  values["kernel_sources"] = sources_of(package, binaries, data);
  values["load_function"] =
      fill_file(data.templates, compiled ? "header/load_binaries.h" : "header/load_nvrtc.h", values);
  values["compile_function"] = compiled ? " private:\n" : fill_file(data.templates, "header/compile_nvrtc.h", values);
  files[package.name + ".h"] = fill_file(data.templates, "header/kernels.h", values);
  files["test/subject.h"] = fill_file(data.templates, "header/subject.h", values);
  files["CMakeLists.txt"] = fill_file(data.templates, "header/CMakeLists.txt", values);
  files["README.md"] = fill_file(data.templates, "header/README.md", values);
  files["LICENSE"] = core::read_file(data.licence);
  files["provenance.json"] =
      provenance_json(package, compiled ? "header with binaries" : "header", made).dump(2) + "\n";
  return files;
}

}  // namespace results::exporting
