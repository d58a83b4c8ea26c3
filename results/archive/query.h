// Read-only SQL written by a person, over the tables and views of the archive (docs/archive.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/archive/recorder.h"

namespace results::archive {

struct QueryLimits {
  size_t rows = 1000;  // 0: all
  std::chrono::milliseconds at_most{30'000};
};

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<core::Json>> rows;  // null, integers, reals, texts; a blob becomes a text with its length
  bool more = false;                          // true: rows were left out
};

// Throws core::InputError unless `sql` is a single reading statement (suggesting the nearest view or table for a
// misspelt name), and when it takes too long.
QueryResult query(const Reader& archive, const std::string& sql, const QueryLimits& limits = {});

}  // namespace results::archive
