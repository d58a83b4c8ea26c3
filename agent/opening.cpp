#include "agent/opening.h"

#include "agent/campaign.h"
#include "core/error.h"

namespace agent {

Data load_data(const Shell& shell) {
  Data data{core::installed_paths(), {}};
  data.paths.sandbox_level = shell.sandbox_level;
  data.problems = benchsuite::load_problems(data.paths.problems());
  return data;
}

results::archive::Recorder open_seeded_archive(const Shell& shell, const Data& data) {
  results::archive::Recorder archive(shell.archive);
  for (const auto& [name, problem] : data.problems) {
    const sandbox::Solution naive = sandbox::load_solution(problem.naive_file());
    archive.add_solution({&naive, "naive", "naive", {}});
    for (const Entrant& entrant : shipped_entrants(data.paths, problem, "")) {
      archive.add_solution({&entrant.solution, entrant.name, entrant.origin, {}});
    }
  }
  return archive;
}

results::archive::Recorder open_existing_archive(const Shell& shell) {
  if (!std::filesystem::exists(shell.archive)) {
    throw core::InputError(shell.archive.string(), "there is no archive yet",
                           "kernelwright run makes it, or give another file with --archive");
  }
  if (std::filesystem::is_regular_file(shell.archive) && std::filesystem::file_size(shell.archive) == 0) {
    throw core::InputError(
        shell.archive.string(), "is empty: it was cut off, or never written",
        "go back to a copy (kernelwright archive backup makes them), or give another file with --archive");
  }
  return results::archive::Recorder(shell.archive);
}

}  // namespace agent
