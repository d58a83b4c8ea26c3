#include "agent/campaign/startup.h"

#include "agent/campaign/campaign.h"
#include "core/error.h"

namespace agent::campaign {

ShippedData load_data(int sandbox_level) {
  ShippedData data{core::installed_paths(), {}};
  data.paths.sandbox_level = sandbox_level;
  data.problems = benchsuite::load_problems(data.paths.problems());
  return data;
}

results::archive::Recorder open_seeded_archive(const std::filesystem::path& file, const ShippedData& data) {
  results::archive::Recorder archive(file);
  for (const auto& [name, problem] : data.problems) {
    const sandbox::Solution naive = sandbox::load_solution(problem.naive_file());
    archive.add_solution({&naive, "naive", "naive", {}});
    for (const search::NamedSolution& named : shipped_solutions(data.paths, problem, "")) {
      archive.add_solution({&named.solution, named.name, named.origin, {}});
    }
  }
  return archive;
}

results::archive::Recorder open_existing_archive(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) {
    throw core::InputError(file.string(), "there is no archive yet",
                           "kernelwright run creates it; or give another file with --archive");
  }
  if (std::filesystem::is_regular_file(file) && std::filesystem::file_size(file) == 0) {
    throw core::InputError(file.string(), "is empty: it was truncated, or never written",
                           "restore a copy (made by kernelwright archive backup), or give another file with --archive");
  }
  return results::archive::Recorder(file);
}

}  // namespace agent::campaign
