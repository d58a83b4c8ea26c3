#include "verifier/reference/tensor_shapes.h"

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
    } else if (!core::is_floating(tensor.dtype)) {  // integers, and sorted ones
      (*entry)["least"] = tensor.init.least.eval(axes);
      (*entry)["most"] = tensor.init.most.eval(axes);
    }
  }
  for (const benchsuite::Tensor& tensor : problem.outputs) add(tensor, "output");
  return {{"axes", axes}, {"tensors", std::move(tensors)}};
}

}  // namespace verifier::reference
