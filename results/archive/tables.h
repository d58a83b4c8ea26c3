// How the rows of an archive become records: JSON objects that hold the same in any archive, because they name what
// they refer to by its key instead of its row.
//
// A record is a row with all that belongs to it: of an attempt its compilation, its measurement and their timings, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace results::archive {

enum class Kind {
  text,       // a string, or {"base64": ...} where it is no UTF-8
  json,       // stored as text; in a record the value itself where writing it gives that text again, else the text
  integer,    //
  real,       // finite
  flag,       // 0 and 1; in a record false and true
  blob,       // base64
  reference,  // the key of a record of `table`
  prompt,     // JSON with rows of texts; in a record their hashes
  part,       // the one record of `table` that this row names: a part of this record
  child,      // the record of `table` whose column named by `via` names this row, where there is one
  children    // all of those
};

struct Column {
  std::string name;
  Kind kind;
  bool optional = false;   // may be null; then no record has it
  std::string table = {};  // of references, parts and children
  std::string via = {};    // of children: the column that refers back; of a reference: how the row is found (SQL) where
                           // no column says it, in which case it is read and never written
};

struct Table {
  std::string name;
  std::vector<Column> columns;
  // What tells one record of this table from another, in order. Empty: all that it holds (identity_of, records.h).
  std::vector<std::string> key = {};
  // Which rows belong to the campaign whose row is ?1 (SQL), what it needs in order to be replayed included.
  std::string of_campaign = {};
  bool history = false;  // what campaigns write down: each record of a campaign belongs to that alone
};

// Each table after those that it refers to.
const std::vector<Table>& tables();
// These and the parts of others. Throws core::SystemError when there is none.
const Table& table_named(std::string_view name);

}  // namespace results::archive
