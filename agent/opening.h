// What most commands begin with: the shipped data, and the archive with its seeds.
#pragma once

#include <map>
#include <string>

#include "agent/cli.h"
#include "benchsuite/problem.h"
#include "core/paths.h"
#include "results/archive/recorder.h"

namespace agent {

struct Data {
  core::Paths paths;
  std::map<std::string, benchsuite::Problem> problems;
};
// The workers that it leads to are held to the shell's sandbox level.
Data load_data(const Shell& shell);

// The archive to write to, holding every shipped solution and naive.
results::archive::Recorder open_seeded_archive(const Shell& shell, const Data& data);
// The archive to read from. Throws core::InputError when there is none yet.
results::archive::Recorder open_existing_archive(const Shell& shell);

}  // namespace agent
