#include "agent/actions/kernel_skeleton.h"

#include <vector>

#include "core/strict_json.h"
#include "core/text.h"
#include "results/exporting/names.h"

namespace agent::actions {
namespace {
using benchsuite::Problem;
using benchsuite::Tensor;

std::string shape_text(const Tensor& tensor) {
  std::vector<std::string> extents;
  for (const core::Expr& extent : tensor.shape) extents.push_back(extent.text());
  return core::join(extents, ", ");
}

// The number of elements, as an expression of a plan and of C++; `cast` stands before each extent.
std::string elements_text(const Tensor& tensor, const std::string& cast) {
  std::vector<std::string> factors;
  for (const core::Expr& extent : tensor.shape) factors.push_back(cast + "(" + extent.text() + ")");
  return core::join(factors, " * ");
}

std::string list_text(const std::vector<std::string>& names) { return "[\"" + core::join(names, "\", \"") + "\"]"; }

std::string header(const Problem& problem, const Tensor& output, const std::vector<std::string>& args) {
  return "/* kernelwright\n{\n  \"problem\": " + core::Json(problem.name).dump() +
         ",\n  \"description\": \"one thread per element of " + output.name +
         "\",\n  \"launches\": [\n    {\"kernel\": \"first\", \"grid\": [" +
         core::Json("ceil_div(" + elements_text(output, "") + ", 256)").dump() +
         "], \"block\": [256],\n     \"args\": " + list_text(args) + "}\n  ]\n}\n*/\n";
}

void add_tensors(const std::vector<Tensor>& tensors, const char* qualifier, std::vector<std::string>& args,
                 std::vector<std::string>& parameters, std::string& comments) {
  for (const Tensor& tensor : tensors) {
    args.push_back(tensor.name);
    parameters.push_back(qualifier + std::string(results::exporting::cpp_type(tensor.dtype)) + "* " + tensor.name);
    comments += "// " + tensor.name + ": [" + shape_text(tensor) + "]\n";
  }
}
}  // namespace

std::string kernel_skeleton(const Problem& problem) {
  const Tensor& output = problem.outputs.front();
  std::vector<std::string> args, parameters;
  std::string comments, includes;
  add_tensors(problem.inputs, "const ", args, parameters, comments);
  add_tensors(problem.outputs, "", args, parameters, comments);
  for (const std::string& axis : problem.axis_names()) {
    args.push_back(axis);
    parameters.push_back("int " + axis);
  }
  for (const benchsuite::NamedScalar& scalar : problem.scalars) {
    args.push_back(scalar.name);
    parameters.push_back(std::string(results::exporting::cpp_type(core::dtype_of(scalar.value))) + " " + scalar.name);
  }
  const std::string signature = core::join(parameters, ", ");
  if (signature.find("__half") != std::string::npos) includes += "#include <cuda_fp16.h>\n";
  if (signature.find("__nv_bfloat16") != std::string::npos) includes += "#include <cuda_bf16.h>\n";
  if (signature.find("__nv_fp8_") != std::string::npos) includes += "#include <cuda_fp8.h>\n";
  const std::string elements = elements_text(output, "(size_t)");
  if (elements.find("ceil_div") != std::string::npos) {
    includes += "__device__ int ceil_div(int a, int b) { return (a + b - 1) / b; }\n";
  }
  return header(problem, output, args) + "// A first kernel to write. All tensors are row-major.\n" + comments +
         includes + "extern \"C\" __global__ void first(" + signature +
         ") {\n  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= " + elements +
         ") return;\n  " + output.name + "[i] = 0;  // write " + output.name + "[i] here\n}\n";
}

benchsuite::SourceFiles with_first_kernel(const Problem& problem) { return {{"kernel.cu", kernel_skeleton(problem)}}; }

std::string next_steps(const std::filesystem::path& folder) {
  const std::string place = core::clean_line(folder.string());
  return "\nkernelwright audit " + place + "   verifies that wrong results are refused\nkernelwright judge " + place +
         "/kernel.cu --confirm\nkernelwright run " + place + " --solution " + place + "/kernel.cu\n";
}

}  // namespace agent::actions
