#include "agent/campaign/audits.h"

#include <algorithm>
#include <fstream>

#include "core/error.h"
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

std::vector<verifier::audit::Variant> written(const DeviceSession& session, const core::Paths& paths,
                                              const benchsuite::Problem& problem) {
  std::vector<verifier::audit::Variant> variants;
  const auto take = [&](const fs::path& folder, const std::string& kind, Must must) {
    for (const fs::path& file : solutions_in(folder)) {
      const sandbox::Solution solution = sandbox::load_solution(file);
      sandbox::validate_solution(solution, problem);
      if (session.why_not(solution)) continue;
      variants.push_back(verifier::audit::written_variant(solution, kind + file.stem().string(), must));
    }
  };
  std::error_code absent;
  if (fs::equivalent(problem.folder, paths.problems() / problem.name, absent)) {
    take(paths.kernels() / problem.name, "kernels/", Must::be_accepted);
  }
  take(problem.folder / "honest", "honest/", Must::be_accepted);
  take(problem.folder / "mutants", "mutants/", Must::be_refused);
  return variants;
}
}  // namespace

DeviceSession start_audit_session(const core::Paths& paths, DeviceChoice choice) {
  choice.all = false;
  return DeviceSession(paths, choice, verifier::audit::audit_settings(benchsuite::is_gpu(choice.backend)),
                       background_compile_workers() + 1);
}

verifier::audit::AuditReport audit_problem(DeviceSession& session, const core::Paths& paths,
                                           const benchsuite::Problem& problem, const fs::path& keep, uint64_t seed,
                                           AuditScope scope) {
  std::vector<verifier::audit::Variant> variants;
  if (scope == AuditScope::everything) {
    variants = verifier::audit::audit_variants(problem, written(session, paths, problem));
  }
  if (!keep.empty()) write_all(variants, keep / problem.name);
  return session.judges().with_first([&](verifier::judging::Judge& judge) {
    judge.draw_seeds_from(seed);
    return verifier::audit::audit(problem, variants, judge, session.pool());
  });
}

}  // namespace agent::campaign
