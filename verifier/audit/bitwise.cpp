#include "verifier/audit/bitwise.h"

#include "core/strict_json.h"
#include "core/text.h"

namespace verifier::audit {
namespace {
std::string with_bytes_for_outputs(const benchsuite::Problem& problem) {
  core::Json json = core::parse_json(problem.json_text, problem.name);
  json.erase("equivalents");
  json["contract"]["exact_integers"] = false;
  for (const benchsuite::Tensor& tensor : problem.outputs) {
    core::Json& output = json["outputs"][tensor.name];
    output.erase("compare");
    output["dtype"] = "u8";
    output["shape"].back() = "(" + tensor.shape.back().text() + ") * " + std::to_string(core::size_bytes(tensor.dtype));
  }
  return json.dump();
}

// Added to reference.py; reference_code.py knows the last line: the truth is then what eager gives.
constexpr const char* kBytesOfOutputs = R"python(

def _bytes_of(output):
    output = output.reshape(1) if output.dim() == 0 else output
    return output.contiguous().view(torch.uint8) if output.is_floating_point() else output


def _forward_in_bytes(forward):
    def in_bytes(**inputs):
        outputs = forward(**inputs)
        return tuple(map(_bytes_of, outputs)) if isinstance(outputs, (tuple, list)) else _bytes_of(outputs)

    return in_bytes


import torch
forward = _forward_in_bytes(forward)
TRUTH_IS_EAGER = True
)python";
}  // namespace

benchsuite::Problem bitwise_problem(const benchsuite::Problem& problem) {
  benchsuite::Problem bitwise =
      benchsuite::parse_problem(with_bytes_for_outputs(problem), problem.name + ", bit by bit");
  bitwise.folder = problem.folder;
  bitwise.data = problem.data;
  if (problem.pytorch()) {
    const std::string file(benchsuite::kPytorchFile);
    bitwise.files.emplace(file, problem.files.at(file) + kBytesOfOutputs);
    return bitwise;
  }
  const std::string& naive = problem.files.at(std::string(benchsuite::kNaiveFile));
  for (const std::string_view file : {benchsuite::kReferenceFile, benchsuite::kNaiveFile}) {
    bitwise.files.emplace(file, naive);
  }
  return bitwise;
}

}  // namespace verifier::audit
