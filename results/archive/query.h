// SQL that a person wrote, read only, over the tables and views of the archive (docs/archive.md).
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
  std::vector<std::vector<core::Json>> rows;  // null, integers, reals, texts; a blob is a text that says its length
  bool more = false;                          // rows were left out
};

// Throws core::InputError for what is not one statement of SQL that reads, with the nearest name of a view or table
// where one was misspelt, and for one that takes too long.
QueryResult query(const Reader& archive, const std::string& sql, const QueryLimits& limits = {});

}  // namespace results::archive
