#include "verifier/audit/bitwise.h"

#include <cstdlib>

#include <cerrno>

#include "core/error.h"
#include "core/strict_json.h"

namespace verifier::audit {
namespace {
namespace fs = std::filesystem;

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

BitwiseProblem::BitwiseProblem(const benchsuite::Problem& problem) {
  std::string folder = (fs::temp_directory_path() / "kernelwright-audit-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw core::SystemError("no temporary folder " + folder, errno);
  folder_ = folder;
  std::error_code error;
  for (const char* name : {"reference.cu", "naive.cu"}) {
    if (!error) fs::copy_file(problem.naive_file(), folder_ / name, error);
  }
  if (error) {
    const std::string why = error.message();
    fs::remove_all(folder_, error);
    throw core::SystemError("cannot copy " + problem.naive_file().string() + ": " + why);
  }
  problem_ = benchsuite::parse_problem(with_bytes_for_outputs(problem), problem.name + ", bit by bit");
  problem_.folder = folder_;
}

BitwiseProblem::~BitwiseProblem() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace verifier::audit
