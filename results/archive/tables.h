// The archive's tables, described once. The description drives INSERT (rows.h), records in JSON Lines and their checks
// (results/transfer). A new column needs a migration (schema.cpp), a line in tables.cpp, and a member with its column
// in records.h; of a record without columns(), as an attempt, recorder.cpp writes and reader.cpp reads it by hand.
//
// A record is a row as a JSON object that means the same in any archive: it names other records by their keys instead
// of their rows, and holds everything that belongs to it, as an attempt holds its compilation, measurement and timings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace results::archive {

enum class Kind {
  text,       // a string, or {"base64": ...} if it is not UTF-8
  json,       // stored as text; in a record the value if it serialises to the same text, else the text
  integer,    //
  real,       // finite
  flag,       // 0 and 1; in a record false and true
  blob,       // base64
  reference,  // the key of a record of `table`
  prompt,     // JSON with rows of texts; in a record their hashes
  part,       // the one record of `table` that this row names: a part of this record
  child,      // the record of `table` whose column `via` names this row, if any
  children    // all of those
};

// A condition on a value beyond its kind.
enum class Rule {
  none,
  filled,  // not empty
  time,    // "2026-11-21T10:00:00Z"
  seed,    // 64 bits, in decimal
  at_least_0,
  at_least_1
};

struct Column {
  std::string name;
  Kind kind;
  bool optional = false;   // may be null; the record then lacks the member
  std::string table = {};  // the table of references, parts and children
  // For children: the column that refers back. For a reference without a column: SQL that finds the row; such a
  // reference is read, never written.
  std::string via = {};
  Rule rule = Rule::none;

  bool is_read_only() const { return kind == Kind::reference && !via.empty(); }
  bool is_below() const { return kind == Kind::child || kind == Kind::children; }  // stored in another table
  bool is_stored() const { return !is_read_only() && !is_below(); }
};

struct Table {
  std::string name;
  std::vector<Column> columns;
  // Columns that together identify a record, in order. Empty: the whole record does (identity_of, record_values.h).
  std::vector<std::string> key = {};
  // SQL condition for the rows of the campaign with row ?1, including those that its replay needs.
  std::string of_campaign = {};
  bool history = false;  // written by campaigns: each record belongs to one campaign
};

// All tables, each after those that it refers to.
const std::vector<Table>& tables();
// Finds a table, including parts of others. Throws core::SystemError if there is none.
const Table& table_named(std::string_view name);

// The columns that rows of the table store, in the order of tables(). `owner`: a part's column that names the row it
// belongs to, "" for none.
std::vector<std::string> stored_columns(const Table& table, const std::string& owner = "");
// "INSERT INTO <table> (<stored columns>) VALUES (?, ...)"; `verb` may be "INSERT OR IGNORE".
std::string insert_into(const Table& table, const std::string& owner = "", const std::string& verb = "INSERT");

}  // namespace results::archive
