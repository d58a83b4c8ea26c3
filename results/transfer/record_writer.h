// Adds records to an archive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "results/archive/database.h"
#include "results/transfer/record_values.h"

namespace results::transfer {

class RecordWriter {
 public:
  explicit RecordWriter(Database& database) : database_(database) {}  // outlives it

  // Adds a record that check_record has passed; returns its row. Throws core::InputError at the member that refers to
  // something which is not there.
  int64_t add(const Table& table, const core::JsonView& record);
  // The row of what a record of `campaign` ("": of none) means by this key.
  std::optional<int64_t> find(const Table& table, const std::string& key, const std::string& campaign);
  // From now on find() knows this record, whose table has no key columns. add() remembers what it adds.
  void remember(const Table& table, const core::Json& record, int64_t row);

 private:
  int64_t reference(const Table& table, const core::JsonView& key, const std::string& campaign);
  std::string prompt_with_rows(const core::JsonView& prompt);
  void bind(Statement& statement, const Column& column, const core::JsonView& record, const std::string& campaign);
  // `owner`: the column that refers back to what the record is a part of, and that row.
  int64_t insert(const Table& table, const core::JsonView& record, const std::string& campaign,
                 const std::string& owner = "", int64_t row = 0);

  Database& database_;
  std::unordered_map<std::string, int64_t> rows_;  // by table, campaign and identity
  std::unordered_map<std::string, int64_t> keys_;  // by table and key
};

}  // namespace results::transfer
