// What the parts of the archive share.
#pragma once

#include <filesystem>

#include "results/archive.h"
#include "results/sqlite.h"

namespace results {

struct Archive::State {
  explicit State(const std::filesystem::path& file);

  void add_measurement(int64_t attempt, int64_t against, const verifier::Measurement& measurement);
  // `against` receives the incumbent's description.
  std::optional<verifier::Measurement> measurement_of(int64_t attempt, std::string& against);
  std::vector<int64_t> ids(Statement statement);  // the first column of every row

  Database database;
};

}  // namespace results
