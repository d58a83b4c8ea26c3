// problem.json: any text becomes a problem or is refused.
#include "benchsuite/problem.h"
#include "core/error.h"
#include "core/fuzzing.h"
#include "core/strict_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  try {
    const benchsuite::Problem problem = benchsuite::parse_problem(core::fuzzing::as_text(bytes, size), "fuzzed");
    const std::string written = core::Json::parse(problem.json_text).dump();
    const benchsuite::Problem again = benchsuite::parse_problem(written, "written");
    core::fuzzing::require(again.name == problem.name && again.axis_names() == problem.axis_names() &&
                               again.workloads.size() == problem.workloads.size(),
                           "the same problem from its text");
    for (const benchsuite::Workload& workload : problem.workloads) {
      for (const benchsuite::Tensor& tensor : problem.inputs) {
        core::fuzzing::require(tensor.bytes(workload.axes) > 0, "every workload's tensors have a size");
      }
    }
  } catch (const core::InputError&) {
  }
  return 0;
}
