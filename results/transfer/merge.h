// The records of one archive, added to another that may hold some of them.
#pragma once

#include "results/sqlite.h"
#include "results/transfer/transfer.h"

namespace results {

// Within a transaction of `target`. Both are of the newest schema.
void merge(Database& source, Database& target, Merged& merged, const Watch& watch);

}  // namespace results
