// Converts values of records to and from stored values; identifies records.
#pragma once

#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/archive/database.h"
#include "results/archive/tables.h"

namespace results::transfer {

// Used throughout this folder.
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

// An extra member of a record that equals an earlier one of its campaign (or outside campaigns): 2 for the second, ...
inline constexpr const char* kCopy = "copy";
// An extra member in a file of records: the name of the table.
inline constexpr const char* kTable = "table";

core::Json from_text(const std::string& text);
core::Json from_json_text(const std::string& text);
core::Json from_blob(const std::vector<char>& bytes);

// The reverse, for checked values. Throw core::InputError at the view for any other value.
std::string to_text(const core::JsonView& value);
std::string to_json_text(const core::JsonView& value);
std::vector<char> to_blob(const core::JsonView& value);

// SHA-256 (core/hash.h) of a record without its campaign and kTable: the same in every archive.
std::string identity_of(const core::Json& record);
// The table's key columns separated by blanks, or the identity if it has none.
std::string key_of(const archive::Table& table, const core::Json& record);
// The record as a line of a file: ASCII, without line feed.
std::string line_of(const core::Json& record);

}  // namespace results::transfer
