// Checks of single records: the same for a file that is imported and for an archive.
#pragma once

#include "core/strict_json.h"
#include "results/archive/tables.h"
#include "results/transfer/record_values.h"

namespace results::transfer {

// Checks that members have the kinds and keep the rules of their columns, that hashes fit, and that verdicts and
// figures fit each other and their samples. Does not look for the records it refers to. Throws core::InputError at the
// member.
void check_record(const Table& table, const core::JsonView& record);

}  // namespace results::transfer
