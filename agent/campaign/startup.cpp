#include "agent/campaign/startup.h"

#include <cstdlib>

#include "agent/campaign/campaign.h"
#include "core/error.h"
#include "core/text.h"
#include "results/archive/problems.h"
#include "sandbox/naive_solution.h"

namespace agent::campaign {

namespace {
namespace fs = std::filesystem;

fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_folder(const fs::path& path) {
  std::error_code absent;
  return fs::is_directory(path, absent);
}

// Folders that need not exist; `warn` hears of those that the user named.
std::vector<fs::path> usual_folders(const core::Paths& paths, const std::function<void(const std::string&)>& warn) {
  std::vector<fs::path> folders;
  for (const std::string& named : core::split(variable("KERNELWRIGHT_PROBLEMS").string(), ':')) {
    if (named.empty()) continue;
    if (is_folder(named)) {
      folders.emplace_back(named);
    } else {
      warn("KERNELWRIGHT_PROBLEMS: there is no folder " + named);
    }
  }
  if (const auto own = user_data_folder(); own && is_folder(*own / "problems")) folders.push_back(*own / "problems");
  folders.push_back(paths.problems());
  return folders;
}

// A problem whose own solutions cannot be read would stop every command that opens the archive.
void set_aside_broken_solutions(benchsuite::Catalogue& catalogue) {
  for (auto at = catalogue.problems.begin(); at != catalogue.problems.end();) {
    try {
      for (const auto& [file, text] : at->second.files) {
        if (file == benchsuite::kDataFile) continue;
        sandbox::validate_solution(file == benchsuite::kPytorchFile ? sandbox::naive_solution(at->second)
                                                                    : sandbox::own_solution(at->second, file),
                                   at->second);
      }
      ++at;
    } catch (const core::InputError& error) {
      catalogue.unusable.emplace(at->first, error);
      at = catalogue.problems.erase(at);
    }
  }
}
}  // namespace

std::optional<fs::path> user_data_folder() {
  if (const fs::path data = variable("XDG_DATA_HOME"); !data.empty()) return data / "kernelwright";
  if (const fs::path home = variable("HOME"); !home.empty()) return home / ".local/share/kernelwright";
  return std::nullopt;
}

std::optional<fs::path> user_cache_folder() {
  if (const fs::path cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "kernelwright";
  if (const fs::path home = variable("HOME"); !home.empty()) return home / ".cache/kernelwright";
  return std::nullopt;
}

LoadedData load_data(int sandbox_level, const std::vector<fs::path>& folders,
                     const std::function<void(const std::string&)>& warn) {
  LoadedData data{core::installed_paths(), {}};
  data.paths.sandbox_level = sandbox_level;
  std::vector<fs::path> all = folders;
  for (fs::path& usual : usual_folders(data.paths, warn)) all.push_back(std::move(usual));
  data.catalogue = benchsuite::load_catalogue(all);
  set_aside_broken_solutions(data.catalogue);
  for (const auto& [name, error] : data.catalogue.unusable) {
    warn("the problem " + name + " is left out: " + error.what());
  }
  return data;
}

LoadedData load_shipped_data(int sandbox_level) {
  LoadedData data{core::installed_paths(), {}};
  data.paths.sandbox_level = sandbox_level;
  data.catalogue.problems = benchsuite::load_problems(data.paths.problems());
  return data;
}

results::archive::Recorder open_seeded_archive(const std::filesystem::path& file, const LoadedData& data) {
  results::archive::Recorder archive(file);
  for (const auto& [name, problem] : data.catalogue.problems) {
    const sandbox::Solution naive = sandbox::naive_solution(problem);
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

std::map<std::string, std::string> hashes_here(const benchsuite::Catalogue& catalogue) {
  std::map<std::string, std::string> hashes;
  for (const auto& [name, problem] : catalogue.problems) hashes.emplace(name, benchsuite::content_hash(problem));
  return hashes;
}

std::map<std::string, benchsuite::Problem> problems_of_campaign(const results::archive::Reader& archive,
                                                                const results::archive::CampaignRecord& campaign,
                                                                const benchsuite::Catalogue& catalogue) {
  std::map<std::string, benchsuite::Problem> problems;
  for (const core::Json& listed : campaign.settings.at("problems")) {
    const std::string name = listed.get<std::string>();
    const auto here = catalogue.problems.find(name);
    const bool is_here = here != catalogue.problems.end();
    const auto judged = results::archive::problem_of_campaign(archive, campaign.id, name);
    const bool differs = judged && !(is_here && benchsuite::content_hash(here->second) == judged->hash);
    if (auto kept = differs ? judged->problem() : std::nullopt) {
      problems.emplace(name, std::move(*kept));
    } else if (is_here) {
      problems.emplace(name, here->second);
    }
  }
  return problems;
}

}  // namespace agent::campaign
