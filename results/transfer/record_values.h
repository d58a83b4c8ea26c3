// Values of records, in and out of what the archive stores, and what tells one record from another.
#pragma once

#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/archive/tables.h"

namespace results::transfer {

// A record has this member beside those of its table's columns, where an equal one stands before it in its campaign
// (or in none): 2 for the second, ...
inline constexpr const char* kCopy = "copy";
// And in a file of records, this one: the name of its table.
inline constexpr const char* kTable = "table";

core::Json from_text(const std::string& text);
core::Json from_json_text(const std::string& text);
core::Json from_blob(const std::vector<char>& bytes);

// The reverse, of values that checks have passed. Throw core::InputError at the view for what is none of theirs.
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
