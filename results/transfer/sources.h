// The parts of Sources: checks of an archive, and the merge itself.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "results/archive/database.h"
#include "results/transfer/record_values.h"
#include "results/transfer/transfer.h"

namespace results::transfer {

// `row`: 0 where it is not of one row. It may throw; nothing more is looked for then.
using Fault = std::function<void(const std::string& table, int64_t row, const std::string& what)>;

// Records that are sound each but do not fit each other: steps missing, results of another problem, ...
void find_misfits(Database& database, const Fault& fault);
// The file, references, every record, and how they fit each other.
void find_faults(Database& database, const Fault& fault, const Watch& watch);

// Adds the records of one archive to another that may hold some of them.
// Within a transaction of `target`. Both are of the newest schema.
void merge(Database& source, Database& target, Merged& merged, const Watch& watch);

struct Sources::State {
  // Private copies: what a source is, is what it was when it was checked.
  std::vector<std::unique_ptr<Database>> databases;
};

}  // namespace results::transfer
