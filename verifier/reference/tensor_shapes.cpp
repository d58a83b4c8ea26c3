#include "verifier/reference/tensor_shapes.h"

#include <algorithm>

#include "sandbox/solution.h"
#include "verifier/comparison/compare.h"

namespace verifier::reference {
core::Json shapes_json(const benchsuite::Problem& problem, const core::Bindings& axes) {
  core::Json tensors = core::Json::object();
  const auto add = [&](const benchsuite::Tensor& tensor, const char* role) {
    core::Json& entry = tensors[tensor.name];
    entry = {{"role", role}, {"dtype", core::name_of(tensor.dtype)}, {"shape", comparison::extents(tensor, axes)}};
    return &entry;
  };
  for (const benchsuite::Tensor& tensor : problem.inputs) {
    core::Json* entry = add(tensor, "input");
    if (tensor.init.kind == benchsuite::Init::permutation) {
      (*entry)["least"] = 0;
      (*entry)["most"] = tensor.shape.back().eval(axes) - 1;
      continue;
    }
    const bool given = tensor.init.kind == benchsuite::Init::given;
    if (given) (*entry)["given"] = true;
    if (!core::is_floating(tensor.dtype) && (!given || tensor.init.bounded)) {  // integers, and sorted ones
      (*entry)["least"] = tensor.init.least.eval(axes);
      (*entry)["most"] = tensor.init.most.eval(axes);
    }
  }
  for (const benchsuite::Tensor& tensor : problem.outputs) add(tensor, "output");
  core::Json scalars = core::Json::object();
  for (const benchsuite::NamedScalar& scalar : problem.scalars) scalars[scalar.name] = core::json_of(scalar.value);
  return {
      {"axes", axes}, {"nan", problem.contract.nan}, {"scalars", std::move(scalars)}, {"tensors", std::move(tensors)}};
}

std::string shape_name(const benchsuite::Problem& problem, const core::Bindings& axes) {
  const auto listed = std::ranges::find(problem.workloads, axes, &benchsuite::Workload::axes);
  const std::string sizes = sandbox::describe(axes);
  return listed == problem.workloads.end() ? sizes : "workload " + listed->name + " (" + sizes + ")";
}

}  // namespace verifier::reference
