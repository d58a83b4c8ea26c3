// Parts of Sources: checks of an archive, and merging.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "results/archive/database.h"
#include "results/transfer/record_values.h"
#include "results/transfer/transfer.h"

namespace results::transfer {

// `row`: 0 if it concerns no single row. It may throw to end the search.
using Fault = std::function<void(const std::string& table, int64_t row, const std::string& what)>;

// Finds records that are sound but inconsistent: missing steps, results of another problem, ...
void find_misfits(Database& database, const Fault& fault);
// Checks the file, references, every record, and their consistency.
void find_faults(Database& database, const Fault& fault, const Watch& watch);

// Adds the records of one archive to another that may already hold some. Call within a transaction of `target`; both
// have the newest schema.
void merge(Database& source, Database& target, Merged& merged, const Watch& watch);

struct Sources::State {
  // Private copies, so that a source cannot change after its check.
  std::vector<std::unique_ptr<Database>> databases;
};

}  // namespace results::transfer
