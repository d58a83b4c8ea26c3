// The records of one archive, added to another that may hold some of them.
#pragma once

#include "results/archive/database.h"
#include "results/transfer/transfer.h"

namespace results::transfer {

// Within a transaction of `target`. Both are of the newest schema.
void merge(archive::Database& source, archive::Database& target, Merged& merged, const Watch& watch);

}  // namespace results::transfer
