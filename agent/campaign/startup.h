// Startup of most commands: the problems and other data, and the archive with its seeds.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/catalogue.h"
#include "core/paths.h"
#include "results/archive/recorder.h"

namespace agent::campaign {

struct LoadedData {
  core::Paths paths;
  benchsuite::Catalogue catalogue;
};

// $XDG_DATA_HOME/kernelwright, else ~/.local/share/kernelwright; nullopt without a home.
std::optional<std::filesystem::path> user_data_folder();
// $XDG_CACHE_HOME/kernelwright, else ~/.cache/kernelwright; nullopt without a home.
std::optional<std::filesystem::path> user_cache_folder();

// Loads the problems of `folders` (--problems), of those in $KERNELWRIGHT_PROBLEMS (colon separated), of the user's
// data folder and of the installation. Workers started from the result's paths refuse to run below `sandbox_level`.
// Calls `warn` with the reason for every problem that cannot be used. Throws core::InputError if one of `folders`
// cannot be listed.
LoadedData load_data(int sandbox_level, const std::vector<std::filesystem::path>& folders,
                     const std::function<void(const std::string&)>& warn);
// The same with the shipped problems alone.
LoadedData load_shipped_data(int sandbox_level);

// Opens the archive for writing and adds every shipped and naive solution to it.
results::archive::Recorder open_seeded_archive(const std::filesystem::path& file, const LoadedData& data);
// Opens the archive for reading. Throws core::InputError if it does not exist yet.
results::archive::Recorder open_existing_archive(const std::filesystem::path& file);

// The content hashes of the problems that can be used here, by name.
std::map<std::string, std::string> hashes_here(const benchsuite::Catalogue& catalogue);

// The problems of a campaign as its attempts were judged, so that it can go on or be replayed without their folders and
// after a change; those without attempts come from the catalogue. Leaves out those that neither has.
std::map<std::string, benchsuite::Problem> problems_of_campaign(const results::archive::Reader& archive,
                                                                const results::archive::CampaignRecord& campaign,
                                                                const benchsuite::Catalogue& catalogue);

}  // namespace agent::campaign
