#include "agent/campaign/audits.h"

#include <algorithm>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "sandbox/cuda/driver/driver.h"
#include "verifier/audit/reorderings.h"

namespace agent::campaign {
namespace {
namespace fs = std::filesystem;
using verifier::audit::Must;

std::vector<fs::path> solutions_in(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string file_name(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name + ".cu";
}

void write_all(const std::vector<verifier::audit::Variant>& variants, const fs::path& folder) {
  fs::create_directories(folder);
  for (const verifier::audit::Variant& variant : variants) {
    const fs::path file = folder / file_name(variant.name);
    std::ofstream out(file, std::ios::binary);
    if (!(out << variant.solution.source << std::flush)) throw core::SystemError("cannot write " + file.string());
  }
}
}  // namespace

Auditor::Auditor(const core::Paths& paths, const DeviceChoice& choice)
    : paths_(paths),
      backend_(choice.backend),
      judge_(judged_device(paths, choice.backend, choice.index),
             verifier::audit::audit_settings(choice.backend != "cpu")),
      architecture_(judge_.greeting().value("architecture", "")),
      pool_(choice.backend == "cpu" ? cpu_worker(paths) : cuda_compile_worker(paths, architecture_),
            std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {}

bool Auditor::runs_here(const sandbox::Solution& solution) const {
  if (std::find(solution.backends.begin(), solution.backends.end(), backend_) == solution.backends.end()) return false;
  return architecture_.empty() || sandbox::cuda::driver::runs_on(architecture_, solution.arch);
}

std::vector<verifier::audit::Variant> Auditor::written(const benchsuite::Problem& problem) const {
  std::vector<verifier::audit::Variant> variants;
  const auto take = [&](const fs::path& folder, const std::string& kind, Must must) {
    for (const fs::path& file : solutions_in(folder)) {
      const sandbox::Solution solution = sandbox::load_solution(file);
      sandbox::validate_solution(solution, problem);
      if (!runs_here(solution)) continue;
      variants.push_back(verifier::audit::written_variant(solution, kind + file.stem().string(), must));
    }
  };
  const bool shipped =
      fs::exists(paths_.problems() / problem.name) && fs::equivalent(problem.folder, paths_.problems() / problem.name);
  if (shipped) take(paths_.kernels() / problem.name, "kernels/", Must::be_accepted);
  take(problem.folder / "honest", "honest/", Must::be_accepted);
  take(problem.folder / "mutants", "mutants/", Must::be_refused);
  return variants;
}

verifier::audit::AuditReport Auditor::audit(const benchsuite::Problem& problem, const fs::path& keep) {
  const std::vector<verifier::audit::Variant> variants = verifier::audit::audit_variants(problem, written(problem));
  if (!keep.empty()) write_all(variants, keep / problem.name);
  return verifier::audit::audit(problem, variants, judge_, pool_);
}

}  // namespace agent::campaign
