#include "verifier/audit/bitwise.h"

#include "core/strict_json.h"

namespace verifier::audit {
namespace {
std::string with_bytes_for_outputs(const benchsuite::Problem& problem) {
  core::Json json = core::parse_json(problem.json_text, problem.name);
  json.erase("equivalents");
  json["contract"]["exact_integers"] = false;
  for (const benchsuite::Tensor& tensor : problem.outputs) {
    core::Json& output = json["outputs"][tensor.name];
    output["dtype"] = "u8";
    output["shape"].back() = "(" + tensor.shape.back().text() + ") * " + std::to_string(core::size_bytes(tensor.dtype));
  }
  return json.dump();
}
}  // namespace

benchsuite::Problem bitwise_problem(const benchsuite::Problem& problem) {
  benchsuite::Problem bitwise =
      benchsuite::parse_problem(with_bytes_for_outputs(problem), problem.name + ", bit by bit");
  bitwise.folder = problem.folder;
  const std::string& naive = problem.files.at(std::string(benchsuite::kNaiveFile));
  for (const std::string_view file : {benchsuite::kReferenceFile, benchsuite::kNaiveFile}) {
    bitwise.files.emplace(file, naive);
  }
  return bitwise;
}

}  // namespace verifier::audit
