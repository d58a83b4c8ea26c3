#include "results/exporting/plan_code.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/error.h"
#include "results/exporting/device_source.h"
#include "results/exporting/expressions.h"
#include "results/exporting/names.h"

namespace results::exporting {
namespace {
using benchsuite::Problem;
using benchsuite::Tensor;
using sandbox::Solution;

class Writer {
 public:
  Writer(const Problem& problem, const Solution& solution, const sandbox::TunableBinding& binding)
      : problem_(problem), solution_(solution), binding_(binding), kernels_(kernels_of(solution)) {}

  std::string workspace(size_t index) const {
    const sandbox::Workspace& of = solution_.workspaces[index];
    return "  plan.workspace[" + std::to_string(index) + "] = {" + value(of.bytes) + ", " + truth(of.zeroed) +
           "};  // " + of.name + "\n";
  }

  std::string map(size_t index) const {
    const sandbox::TensorMap& of = solution_.tensor_maps[index];
    const Tensor* tensor = problem_.find_tensor(of.buffer);
    std::vector<core::Expr> shape = of.shape;
    if (shape.empty() && tensor != nullptr) shape.assign(tensor->shape.rbegin(), tensor->shape.rend());
    const core::DType dtype = of.dtype ? *of.dtype : tensor->dtype;
    const std::string plan = "  plan.map[" + std::to_string(index) + "]";
    return plan + " = {" + value(of.when) + ", " + std::to_string(buffer(of.buffer)) + ", " +
           std::to_string(sandbox::tensor_map_type(dtype)) + ", " + std::to_string(core::size_bytes(dtype)) + ", " +
           std::to_string(shape.size()) + ", {" + list(shape) + "}, {" + list(of.box) + "}, " +
           std::to_string(of.swizzle) + ", " + std::to_string(of.l2_promotion) + ", " + truth(of.nan_fill) + "};  // " +
           of.name + "\n";
  }

  std::string launch(size_t index) const {
    const sandbox::Launch& of = solution_.launches[index];
    const auto kernel = std::find(kernels_.begin(), kernels_.end(), of.kernel) - kernels_.begin();
    std::string arguments;
    for (const std::string& arg : of.args) arguments += (arguments.empty() ? "" : ", ") + argument(arg);
    return "  plan.launch[" + std::to_string(index) + "] = {" + std::to_string(kernel) + ",  // " + of.kernel +
           "\n      {" + triple(of.grid) + "},\n      {" + triple(of.block) + "},\n      {" + triple(of.cluster) +
           "},\n      " + value(of.shared_bytes) + ", " + truth(of.cooperative) + ", " + truth(of.overlaps_previous) +
           ", " + std::to_string(of.args.size()) + ",\n      {" + arguments + "}" +
           (of.is_conditional() ? ",\n      " + value(of.when) : "") + "};\n";
  }

 private:
  static std::string truth(bool value) { return value ? "true" : "false"; }
  std::string value(const core::Expr& expr) const {
    return cpp_of(expr, [this](const std::string& name) {
      const auto bound = binding_.find(name);
      return bound == binding_.end() ? "at_" + name : "Exact(" + std::to_string(bound->second) + ")";
    });
  }
  std::string list(const std::vector<core::Expr>& all) const {
    std::string out;
    for (const core::Expr& one : all) out += (out.empty() ? "" : ", ") + value(one);
    return out;
  }
  std::string triple(const std::array<core::Expr, 3>& all) const { return list({all.begin(), all.end()}); }

  int buffer(const std::string& name) const {
    int index = 0;
    for (const auto* tensors : {&problem_.inputs, &problem_.outputs}) {
      for (const Tensor& tensor : *tensors) {
        if (tensor.name == name) return index;
        ++index;
      }
    }
    for (const sandbox::Workspace& workspace : solution_.workspaces) {
      if (workspace.name == name) return index;
      ++index;
    }
    return -1;
  }

  static std::string scalar_argument(const core::Scalar& scalar) {
    int64_t bits = 0;
    const std::vector<std::byte> bytes = core::bytes_of(scalar);
    std::memcpy(&bits, bytes.data(), bytes.size());
    // The least number has no literal.
    const std::string literal = bits == INT64_MIN ? "INT64_MIN" : "int64_t{" + std::to_string(bits) + "}";
    return "scalar(" + literal + " /* " + core::text_of(scalar) + " */)";
  }

  std::string argument(const std::string& arg) const {
    for (size_t i = 0; i < solution_.tensor_maps.size(); ++i) {
      if (solution_.tensor_maps[i].name == arg) return "map_at(" + std::to_string(i) + ")";
    }
    const int index = buffer(arg);
    if (index >= 0) return "buffer_at(" + std::to_string(index) + ")";
    if (const core::Scalar* scalar = problem_.find_scalar(arg)) return scalar_argument(*scalar);
    return "number(" + value(core::Expr::parse(arg)) + ")";
  }

  const Problem& problem_;
  const Solution& solution_;
  const sandbox::TunableBinding& binding_;
  std::vector<std::string> kernels_;
};
}  // namespace

void PlanRoom::hold(const Solution& solution) {
  workspaces = std::max(workspaces, solution.workspaces.size());
  launches = std::max(launches, solution.launches.size());
  maps = std::max(maps, solution.tensor_maps.size());
  for (const sandbox::Launch& launch : solution.launches) arguments = std::max(arguments, launch.args.size());
}

std::string plan_function(const Problem& problem, const Solution& solution, const sandbox::TunableBinding& binding,
                          const std::string& function) {
  const Writer writer(problem, solution, binding);
  std::string out = "inline bool " + function + "(const Shape& at, Plan& plan) noexcept {\n";
  for (const benchsuite::Axis& axis : problem.axes) {
    out += "  [[maybe_unused]] const Exact at_" + axis.name + "(at." + safe_name(axis.name) + ");\n";
  }
  out += "  plan = Plan{};\n";
  out += "  plan.workspaces = " + std::to_string(solution.workspaces.size()) + ";\n";
  for (size_t i = 0; i < solution.workspaces.size(); ++i) out += writer.workspace(i);
  out += "  plan.maps = " + std::to_string(solution.tensor_maps.size()) + ";\n";
  for (size_t i = 0; i < solution.tensor_maps.size(); ++i) out += writer.map(i);
  out += "  plan.launches = " + std::to_string(solution.launches.size()) + ";\n";
  for (size_t i = 0; i < solution.launches.size(); ++i) out += writer.launch(i);
  const bool conditional = std::ranges::any_of(solution.launches, &sandbox::Launch::is_conditional);
  return out + (conditional ? "  return leave_out(plan) && is_valid(plan);\n}\n" : "  return is_valid(plan);\n}\n");
}

}  // namespace results::exporting
