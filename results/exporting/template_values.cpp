#include "results/exporting/template_values.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "results/exporting/device_source.h"
#include "results/exporting/expressions.h"
#include "results/exporting/names.h"
#include "results/exporting/plan_code.h"
#include "results/exporting/provenance.h"

namespace results::exporting {
namespace {
using benchsuite::Problem;
using benchsuite::Tensor;

std::vector<const Tensor*> tensors_of(const Problem& problem) {
  std::vector<const Tensor*> all;
  for (const Tensor& tensor : problem.inputs) all.push_back(&tensor);
  for (const Tensor& tensor : problem.outputs) all.push_back(&tensor);
  return all;
}

// The enumerator of templates/test/problem.h.
std::string test_dtype(core::DType dtype) {
  return dtype == core::DType::boolean ? "boolean" : std::string(core::name_of(dtype));
}

bool is_output(const Problem& problem, size_t index) { return index >= problem.inputs.size(); }

std::string cpp_at(const core::Expr& expr) {
  return cpp_of(expr, [](const std::string& name) { return "at_" + name; });
}

std::string elements_of(const Tensor& tensor) {
  std::string out;
  for (const core::Expr& extent : tensor.shape) out += (out.empty() ? "Exact(" : " * Exact(") + cpp_at(extent) + ")";
  return out;
}

void add_axes(const Problem& problem, TemplateValues& values) {
  std::string members, domains, sizes, zeros, locals;
  size_t longest_list = 1;
  for (const benchsuite::Axis& axis : problem.axes) {
    const std::string name = safe_name(axis.name);
    members += "  int64_t " + name + " = " + std::to_string(axis.min) + ";  " +
               as_comment(axis.description + ": " + axis.domain());
    std::string list;
    for (const int64_t value : axis.values) list += (list.empty() ? "" : ", ") + std::to_string(value);
    domains += "    {" + std::to_string(axis.min) + ", " + std::to_string(axis.max) + ", " +
               std::to_string(axis.multiple_of) + ", " + std::to_string(axis.values.size()) + ", {" + list + "}, " +
               cpp_string(axis.name + " must be " + axis.domain()) + "},\n";
    longest_list = std::max(longest_list, axis.values.size());
    sizes += (sizes.empty() ? "at." : ", at.") + name;
    zeros += zeros.empty() ? "0" : ", 0";
    locals += "  [[maybe_unused]] const Exact at_" + axis.name + "(at." + name + ");\n";
  }
  values["shape_members"] = members;
  values["axis_domains"] = domains;
  values["most_axis_values"] = std::to_string(longest_list);
  values["axis_values"] = sizes;
  values["zero_shape"] = zeros;
  values["axis_locals"] = locals;
  values["axis_count"] = std::to_string(problem.axes.size());
}

void add_tensors(const Problem& problem, TemplateValues& values) {
  std::string comment, parameters, list, casts, checks;
  const auto tensors = tensors_of(problem);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = *tensors[i];
    const std::string name = safe_name(tensor.name);
    const std::string type = (is_output(problem, i) ? "" : "const ") + std::string(cpp_type(tensor.dtype)) + "*";
    const std::string comma = i == 0 ? "" : ", ";
    comment += as_comment("  " + name + ": " + shape_text(tensor) + " " + std::string(core::name_of(tensor.dtype)) +
                          (is_output(problem, i) ? ", written" : ", read"));
    parameters += comma + type + " " + name;
    list += comma +
            (is_output(problem, i) ? name : "const_cast<" + std::string(cpp_type(tensor.dtype)) + "*>(" + name + ")");
    casts += comma + "static_cast<" + type + ">(tensors[" + std::to_string(i) + "])";
    checks += "  if (Status status = detail::check_pointer(" + name + ", " +
              cpp_string(tensor.name + " is null or not aligned to 256 bytes") + "); !status) return status;\n";
  }
  values["tensor_comment"] = comment;
  values["tensor_parameters"] = parameters;
  values["tensor_list"] = list;
  values["tensor_casts"] = casts;
  values["pointer_checks"] = checks;
  values["tensor_count"] = std::to_string(tensors.size());
  values["output_count"] = std::to_string(problem.outputs.size());
}

void add_types(const Problem& problem, TemplateValues& values) {
  std::set<core::DType> dtypes;
  for (const Tensor* tensor : tensors_of(problem)) dtypes.insert(tensor->dtype);
  const bool half = dtypes.count(core::DType::f16) > 0, bfloat = dtypes.count(core::DType::bf16) > 0;
  values["type_includes"] = std::string(half ? "#include <cuda_fp16.h>\n" : "") +
                            (bfloat ? "#include <cuda_bf16.h>\n" : "") +
                            (std::ranges::any_of(dtypes, core::is_f8) ? "#include <cuda_fp8.h>\n" : "");
  std::string stores, loads;
  for (const core::DType dtype : dtypes) {
    // A bool is seen as its byte, so that a byte other than 0 and 1 differs from both.
    const bool boolean = dtype == core::DType::boolean;
    const std::string type(boolean ? "uint8_t" : cpp_type(dtype)), name(test_dtype(dtype));
    std::string value = "static_cast<" + type + ">(number)", loaded = "static_cast<double>(as(" + type + "()))";
    if (dtype == core::DType::f16)
      value = "__float2half(static_cast<float>(number))", loaded = "__half2float(as(__half()))";
    if (dtype == core::DType::bf16) {
      value = "__float2bfloat16(static_cast<float>(number))", loaded = "__bfloat162float(as(__nv_bfloat16()))";
    }
    if (core::is_f8(dtype))
      value = type + "(number)", loaded = "static_cast<double>(static_cast<float>(as(" + type + "())))";
    stores +=
        "      case DType::" + name + ":\n        static_cast<" + type + "*>(to)[i] = " + value + ";\n        break;\n";
    if (dtype != core::DType::f64) loads += "    case DType::" + name + ":\n      return " + loaded + ";\n";
  }
  values["store_cases"] = stores + "      default:\n        break;\n";
  values["load_cases"] = loads + "    case DType::f64:\n      return as(double());\n    default:\n      break;\n";
}

void add_test_values(const Problem& problem, TemplateValues& values) {
  std::string tensors, elements, bounds, cases;
  const auto all = tensors_of(problem);
  for (size_t i = 0; i < all.size(); ++i) {
    const Tensor& tensor = *all[i];
    const benchsuite::InputInit& init = tensor.init;
    const bool uniform = init.kind == benchsuite::Init::uniform;
    const double a = uniform ? init.low : init.scale, b = uniform ? init.high : 0;
    tensors += "    {" + cpp_string(tensor.name) + ", DType::" + test_dtype(tensor.dtype) + ", " +
               (is_output(problem, i) ? "true" : "false") + ", Init::" + std::string(benchsuite::name_of(init.kind)) +
               ", " + std::to_string(a) + ", " + std::to_string(b) + "},\n";
    const std::string number = "    case " + std::to_string(i) + ":\n      ";
    elements += number + "return (" + elements_of(tensor) + ").value;\n";
    if (init.kind == benchsuite::Init::integers && !is_output(problem, i)) {
      bounds += number + "least = Exact(" + cpp_at(init.least) + ").value;\n      most = Exact(" + cpp_at(init.most) +
                ").value;\n      break;\n";
    }
  }
  for (const TestShape& shape : test_shapes(problem)) {
    cases += "    {" + cpp_string(shape.name) + ", Shape{" + axis_values(problem, shape.axes) + "}, " +
             (shape.timed ? "true" : "false") + "},\n";
  }
  values["test_tensors"] = tensors;
  values["element_cases"] = elements;
  values["bound_cases"] = bounds + "    default:\n      break;\n";
  values["test_cases"] = cases;
  values["accumulate"] = core::name_of(problem.contract.accumulate);
  values["terms_are_outputs"] = problem.contract.sums ? "true" : "false";
  if (problem.contract.sums) {
    values["terms"] = "static_cast<double>((" + cpp_at(*problem.contract.sums) + ").value)";
    return;
  }
  std::string most = "0.0";
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    most = "std::fmax(" + most + ", static_cast<double>(elements_of(at, " + std::to_string(i) + ")))";
  }
  if (problem.contract.exact_integers) {  // an addition and a product per term
    most = "std::fmax(" + most + ", static_cast<double>((" + cpp_at(problem.cost.flops) + ").value) / 2)";
  }
  values["terms"] = most + " / static_cast<double>(elements_of(at, output))";
}

void add_routes(const Package& package, TemplateValues& values) {
  std::string declarations, entries;
  std::set<std::string> declared;
  for (const ExportedKernel& kernel : package.kernels) {
    if (declared.insert(kernel.id).second) declarations += "extern const Kernel kernel_" + kernel.id + ";\n";
  }
  for (const Route& route : package.routes) {
    entries += "    {&kernel_" + package.kernels[route.kernel].id + ", " +
               std::to_string(capability_of(route.architecture)) + ", Shape{" +
               axis_values(*package.problem, route.shape) + "}},\n";
  }
  if (package.own) declarations += "extern const Kernel kernel_naive;\n";
  values["kernel_declarations"] = declarations;
  values["fallback_kernel"] = package.own ? "&kernel_naive" : "nullptr";
  values["measured_entries"] = entries;
}
}  // namespace

std::string axis_values(const Problem& problem, const core::Bindings& axes) {
  std::string out;
  for (const benchsuite::Axis& axis : problem.axes) {
    out += (out.empty() ? "" : ", ") + std::to_string(axes.at(axis.name));
  }
  return out;
}

std::string shape_text(const Tensor& tensor) {
  std::string out;
  for (const core::Expr& extent : tensor.shape) out += (out.empty() ? "[" : ", ") + extent.text();
  return out + "]";
}

TemplateValues common_values(const Package& package) {
  const Problem& problem = *package.problem;
  PlanRoom room;
  for (const ExportedKernel& kernel : package.kernels) room.hold(kernel.solution);
  if (package.own) {
    room.hold(package.own->naive);
    room.hold(package.own->reference);
  }
  const std::string version = "v_" + package.version();
  TemplateValues values{
      {"package", package.name},
      {"version", version},
      {"open", "namespace " + package.name + " {\ninline namespace " + version + " {"},
      {"close", "}  // namespace " + version + "\n}  // namespace " + package.name},
      {"api_include", "#include \"" + package.name + ".h\""},
      {"title", core::clean_line(problem.title)},
      {"problem", problem.name},
      {"description_comment", as_comment(problem.title + ": " + problem.description)},
      {"provenance_comment", as_comment(provenance_text(package) + "Licence: " + licence_text(package))},
      {"provenance_text", provenance_text(package)},
      {"licence_text", licence_text(package)},
      {"dispatch_text", dispatch_text(package)},
      {"status_line", status_line(package)},
      {"error_type", "cudaError_t"},
      {"no_error", "cudaSuccess"},
      {"most_workspaces", std::to_string(room.workspaces)},
      {"most_launches", std::to_string(room.launches)},
      {"most_arguments", std::to_string(room.arguments)},
      {"most_maps", std::to_string(room.maps)}};
  add_axes(problem, values);
  add_tensors(problem, values);
  add_types(problem, values);
  add_test_values(problem, values);
  add_routes(package, values);
  return values;
}

std::string device_types() {
  return "// As device code has them: 64 bits are long long.\n"
         "typedef unsigned char uchar;\n"
         "typedef signed long long int64_t;\n"
         "typedef unsigned long long uint64_t;\n"
         "typedef int64_t intptr_t;\n"
         "typedef uint64_t uintptr_t;\n"
         "// The lanes of a warp, or of a wavefront, and the mask that names all of them, which HIP may not take.\n"
         "#ifdef __HIP_PLATFORM_AMD__\n"
         "#if defined(__GFX8__) || defined(__GFX9__)\n"
         "#define KW_WAVE 64\n"
         "#else\n"
         "#define KW_WAVE 32\n"
         "#endif\n"
         "#define KW_WHOLE_WAVE 0xffffffffffffffffull\n"
         "#define __shfl_sync(mask, ...) __shfl(__VA_ARGS__)\n"
         "#define __shfl_up_sync(mask, ...) __shfl_up(__VA_ARGS__)\n"
         "#define __shfl_down_sync(mask, ...) __shfl_down(__VA_ARGS__)\n"
         "#define __shfl_xor_sync(mask, ...) __shfl_xor(__VA_ARGS__)\n"
         "#else\n"
         "#define KW_WAVE 32\n"
         "#define KW_WHOLE_WAVE 0xffffffffu\n"
         "#endif\n";
}

std::string kernel_file(const Package& package, const sandbox::Solution& solution,
                        const sandbox::TunableBinding& binding, const std::string& id, const std::string& scope) {
  const std::string device = package.name + "_v_" + package.version() + "_" + scope + "_" + id;
  std::string functions;
  for (const std::string& kernel : kernels_of(solution)) {
    functions += (functions.empty() ? "" : ", ") + ("reinterpret_cast<const void*>(&::" + device + "::" + kernel + ")");
  }
  const std::string tunables = sandbox::describe(binding);
  return "#include \"launch.h\"\n\n#include <cfloat>\n#include <climits>\n#include <cmath>\n" +
         in_namespace(solution, binding, device, device_types()) + "\nnamespace " + package.name +
         " {\ninline namespace v_" + package.version() + " {\nnamespace " + scope +
         " {\nnamespace {\nusing namespace detail;\n\n" +
         plan_function(*package.problem, solution, binding, "plan_" + id) + "\nconst void* const functions[] = {" +
         functions + "};\n}  // namespace\n\nextern const Kernel kernel_" + id + ";\nconst Kernel kernel_" + id +
         " = {" + cpp_string(id) + ", " + std::to_string(capability_of(solution.arch)) + ", &plan_" + id +
         ", functions};\n\n}  // namespace " + scope + "\n}\n}  // namespace " + package.name + "\n";
}

void add_tests(const Package& package, const ProblemKernels& own, const ExportData& data, const TemplateValues& values,
               Files& files) {
  for (const char* file : {"problem.h", "memory.h", "compare.h", "selftest.cu"}) {
    files[std::string("test/") + file] = fill_file(data.templates, std::string("test/") + file, values);
  }
  const auto header = [&](const std::string& what) {
    return as_comment(what + " of the problem " + package.problem->name + ".");
  };
  files["test/reference.cu"] =
      header("The reference, in double precision,") + kernel_file(package, own.reference, {}, "reference", "test");
  files["test/naive.cu"] = header("The naive solution, which calibrates the tolerance,") +
                           kernel_file(package, own.naive, sandbox::default_binding(own.naive), "naive", "test");
}

std::vector<TestShape> test_shapes(const Problem& problem) {
  constexpr int64_t kMostElements = int64_t{1} << 22;
  std::vector<TestShape> shapes;
  std::set<core::Bindings> seen;
  const bool only_listed = std::ranges::any_of(
      problem.inputs, [](const Tensor& input) { return input.init.kind == benchsuite::Init::given; });
  const auto add = [&](const std::string& name, core::Bindings axes, bool timed, bool any_size) {
    if (name.empty() && only_listed) return;  // inputs() may refuse it
    for (const benchsuite::Axis& axis : problem.axes) {
      int64_t& size = axes[axis.name];
      size = axis.at_most(size);
    }
    for (const Tensor* tensor : tensors_of(problem)) {
      if (!any_size && tensor->elements(axes) > kMostElements) return;
    }
    if (seen.insert(axes).second) shapes.push_back({name.empty() ? sandbox::describe(axes) : name, axes, timed});
  };
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role == benchsuite::Role::test) add(workload.name, workload.axes, false, true);
  }
  const int64_t primes[] = {1, 3, 17, 31, 127, 257};
  for (size_t first = 0; first < std::size(primes); ++first) {
    core::Bindings axes;
    for (size_t i = 0; i < problem.axes.size(); ++i) {
      const benchsuite::Axis& axis = problem.axes[i];
      axes[axis.name] = axis.values.empty() ? primes[(first + 2 * i) % std::size(primes)] * axis.multiple_of
                                            : axis.values[first % axis.values.size()];
    }
    add("", axes, false, false);
  }
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (!workload.runs_on("cuda") || workload.role != benchsuite::Role::test) continue;
    for (const int64_t by : {-1, 1}) {
      core::Bindings axes = workload.axes;
      for (const benchsuite::Axis& axis : problem.axes) axes[axis.name] += by * axis.multiple_of;
      add("", axes, false, false);
    }
  }
  for (const benchsuite::Workload& workload : problem.workloads) {
    if (workload.role == benchsuite::Role::bench && workload.runs_on("cuda"))
      add(workload.name, workload.axes, true, true);
  }
  return shapes;
}

namespace {
// The position after the placeholder that begins at '@'; npos if none does.
size_t end_of_placeholder(const std::string& text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (std::islower(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
  return end > at + 1 && end < text.size() && text[end] == '@' ? end : std::string::npos;
}
}  // namespace

std::string fill(const std::string& text, const TemplateValues& values, const std::string& file) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find('@', at);
    out += text.substr(at, begin == std::string::npos ? begin : begin - at);
    if (begin == std::string::npos) break;
    const size_t end = end_of_placeholder(text, begin);
    if (end == std::string::npos) {
      out += '@';
      at = begin + 1;
      continue;
    }
    const auto found = values.find(text.substr(begin + 1, end - begin - 1));
    if (found == values.end()) {
      throw core::SystemError(file + ": nothing fills " + text.substr(begin, end - begin + 1));
    }
    out += found->second;
    at = end + 1;
  }
  return out;
}

std::string fill_file(const std::filesystem::path& templates, const std::string& file, const TemplateValues& values) {
  return fill(core::read_file(templates / (file + ".in")), values, file);
}

}  // namespace results::exporting
