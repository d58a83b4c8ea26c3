#include "sandbox/naive_solution.h"

#include "core/hash.h"
#include "core/strict_json.h"

namespace sandbox {

Solution naive_solution(const benchsuite::Problem& problem) {
  if (!problem.pytorch()) return own_solution(problem, benchsuite::kNaiveFile);
  core::Json args = core::Json::array();
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const benchsuite::Tensor& tensor : *tensors) args.push_back(tensor.name);
  }
  const core::Json header{
      {"problem", problem.name},
      {"description", "reference.py in PyTorch, eager, in the dtypes of the contract: not a kernel"},
      {"launches", {{{"kernel", kPytorchKernel}, {"grid", {1}}, {"block", {1}}, {"args", std::move(args)}}}}};
  const std::string hash =
      core::Hasher().field("pytorch", problem.files.at(std::string(benchsuite::kPytorchFile))).hex();
  return parse_solution("/* kernelwright\n" + header.dump(2) + "\n*/\n// " + kPytorchKernel +
                            " stands for forward() of reference.py, " + hash + "\n",
                        problem.pytorch_file().string());
}

}  // namespace sandbox
