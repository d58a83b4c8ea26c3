#include "results/exporting/package.h"

#include <algorithm>
#include <cstdlib>

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
