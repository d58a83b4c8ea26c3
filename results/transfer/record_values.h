// Values of records to and from stored values, and the identity of records.
#pragma once

#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/archive/database.h"
#include "results/archive/tables.h"

namespace results::transfer {

// Rows are this room's subject: the names of the archive's tables need no prefix here.
using archive::Column;
using archive::Database;
using archive::Kind;
using archive::Rule;
using archive::Snapshot;
using archive::Statement;
using archive::Table;
using archive::table_named;
using archive::tables;
using archive::Transaction;

// A record has this member beside those of its table's columns, where an equal one stands before it in its campaign
// (or in none): 2 for the second, ...
inline constexpr const char* kCopy = "copy";
// And in a file of records, this one: the name of its table.
inline constexpr const char* kTable = "table";

core::Json from_text(const std::string& text);
core::Json from_json_text(const std::string& text);
core::Json from_blob(const std::vector<char>& bytes);

// The reverse, for values that have passed the checks. Throw core::InputError at the view for any other value.
std::string to_text(const core::JsonView& value);
std::string to_json_text(const core::JsonView& value);
std::vector<char> to_blob(const core::JsonView& value);

// SHA-256 (core/hash.h) of all that a record holds but the campaign that it is of and kTable: the same in every
// archive.
std::string identity_of(const core::Json& record);
// Its table's key columns, separated by blanks; without such its identity.
std::string key_of(const archive::Table& table, const core::Json& record);
// For a file. ASCII, without line feed.
std::string line_of(const core::Json& record);

}  // namespace results::transfer
