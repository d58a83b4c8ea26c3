// Checks of single records, for imported files and for archives.
#pragma once

#include "core/strict_json.h"
#include "results/archive/tables.h"
#include "results/transfer/record_values.h"

namespace results::transfer {

// Checks the kinds and rules of members, hashes, and the consistency of verdicts, figures and samples. Does not look up
// referenced records. Throws core::InputError at the member.
void check_record(const Table& table, const core::JsonView& record);

}  // namespace results::transfer
