#include "results/exporting/package.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/hash.h"

namespace results::exporting {

bool ExportedKernel::confirmed() const {
  return attempt.effort == "confirm" && verifier::verdicts::is_correct(attempt.verdict) && attempt.measurement &&
         attempt.measurement->outcome == verifier::statistics::Outcome::win;
}

std::string Package::version() const {
  core::Hasher hasher;
  hasher.field("name", name).field("problem", benchsuite::content_hash(*problem));
  for (const ExportedKernel& kernel : kernels) hasher.field("kernel", kernel.id);
  for (const Route& route : routes) {
    hasher.field("route", kernels[route.kernel].id + " " + route.architecture + " " + sandbox::describe(route.shape));
  }
  return hasher.hex().substr(0, 8);
}

bool Package::all_confirmed() const {
  return std::all_of(kernels.begin(), kernels.end(), [](const ExportedKernel& kernel) { return kernel.confirmed(); });
}

namespace {
// The input or output that is too much for the tests in C++, which know fewer kinds than the judge; "" if none is.
std::string beyond_tests_in_cpp(const benchsuite::Problem& problem) {
  for (const benchsuite::Tensor& input : problem.inputs) {
    if (!input.init.has_structured_rows() && !input.init.is_triangular()) continue;
    return "cannot draw the input " + input.name + " (" + std::string(benchsuite::name_of(input.init.kind)) + ")";
  }
  for (const benchsuite::Tensor& output : problem.outputs) {
    const benchsuite::OutputRule rule = output.comparison.rule;
    if (rule == benchsuite::OutputRule::elements || rule == benchsuite::OutputRule::equal) continue;
    return "cannot compare the output " + output.name + " (" + std::string(benchsuite::name_of(rule)) + ")";
  }
  return "";
}
}  // namespace

const ProblemKernels& Package::own_kernels(const std::string& format) const {
  const std::string lacking =
      own ? beyond_tests_in_cpp(*problem)
          : "needs reference.cu and naive.cu, and the reference of " + problem->name + " is reference.py";
  if (lacking.empty()) return *own;
  throw core::InputError("--to " + format, "the test of this format " + lacking,
                         "export --to pytorch, whose test can; kernelwright show " +
                             std::to_string(kernels[0].attempt.id) + " prints the kernel");
}

std::vector<std::string> compiled_for(const Package& package, size_t kernel) {
  std::vector<std::string> architectures;
  for (const Route& route : package.routes) {
    if (route.kernel != kernel) continue;
    if (route.architecture.empty()) return {};
    if (std::find(architectures.begin(), architectures.end(), route.architecture) == architectures.end()) {
      architectures.push_back(route.architecture);
    }
  }
  return architectures;
}

int capability_of(const std::string& architecture) {
  return architecture.size() > 3 ? std::atoi(architecture.c_str() + 3) : 0;
}

}  // namespace results::exporting
