// Startup of most commands: the shipped data, and the archive with its seeds.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "benchsuite/problem.h"
#include "core/paths.h"
#include "results/archive/recorder.h"

namespace agent::campaign {

struct ShippedData {
  core::Paths paths;
  std::map<std::string, benchsuite::Problem> problems;
};
// Workers started from its paths refuse to run below `sandbox_level`.
ShippedData load_data(int sandbox_level);

// Opens the archive for writing and adds every shipped and naive solution to it.
results::archive::Recorder open_seeded_archive(const std::filesystem::path& file, const ShippedData& data);
// Opens the archive for reading. Throws core::InputError if it does not exist yet.
results::archive::Recorder open_existing_archive(const std::filesystem::path& file);

}  // namespace agent::campaign
