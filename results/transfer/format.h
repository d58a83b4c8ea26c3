// Files of records: JSON Lines with a header, then one record per line, tables in the order of tables().
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>

#include "core/strict_json.h"
#include "results/archive/tables.h"
#include "results/transfer/record_values.h"

namespace results::transfer {

// The header without the counts by table, which the caller adds.
core::Json new_header(int64_t schema);

// Reads such a file to its end and checks each record (check.h). Calls `take` with each; `line` counts from 1. Throws
// core::InputError with `name` and the line for an invalid record or a truncated file.
void read_records(std::istream& in, const std::string& name,
                  const std::function<void(const Table& table, const core::JsonView& record, int64_t line)>& take);

}  // namespace results::transfer
