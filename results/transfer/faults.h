// What is wrong with an archive of the newest schema.
#pragma once

#include <functional>
#include <string>

#include "results/archive/database.h"
#include "results/transfer/transfer.h"

namespace results::transfer {

// `row`: 0 where it is not of one row. It may throw; nothing more is looked for then.
using Fault = std::function<void(const std::string& table, int64_t row, const std::string& what)>;

// Records that are sound each but do not fit each other: steps missing, results of another problem, ...
void find_misfits(archive::Database& database, const Fault& fault);
// The file, references, every record, and how they fit each other.
void find_faults(archive::Database& database, const Fault& fault, const Watch& watch);

}  // namespace results::transfer
