// What the parts of the archive share.
#pragma once

#include <filesystem>

#include "results/archive/database.h"
#include "results/archive/recorder.h"

namespace results::archive {

struct Archive::State {
  explicit State(const std::filesystem::path& file);

  void add_measurement(int64_t attempt, int64_t against, const verifier::verdicts::Measurement& measurement);
  // `against` receives the incumbent's description.
  std::optional<verifier::verdicts::Measurement> measurement_of(int64_t attempt, std::string& against);
  // The number of what a campaign is about to write down, within that transaction.
  std::optional<int64_t> next_step(std::optional<int64_t> campaign);
  std::vector<int64_t> ids(Statement statement);  // the first column of every row
  std::vector<std::string> texts(Statement statement);

  Database database;
};

}  // namespace results::archive
