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

  // Adds a record that passed check_record; returns its row. Throws core::InputError at a member whose reference is
  // missing.
  int64_t add(const Table& table, const core::JsonView& record);
  // The row that `key` refers to in a record of `campaign` ("": none).
  std::optional<int64_t> find(const Table& table, const std::string& key, const std::string& campaign);
  // Makes find() know this record of a table without key columns. add() calls it itself.
  void remember(const Table& table, const core::Json& record, int64_t row);

 private:
  int64_t reference(const Table& table, const core::JsonView& key, const std::string& campaign);
  std::string prompt_with_rows(const core::JsonView& prompt);
  void bind(Statement& statement, const Column& column, const core::JsonView& record, const std::string& campaign);
  // `owner`: the column that refers back to the owning record, and its row.
  int64_t insert(const Table& table, const core::JsonView& record, const std::string& campaign,
                 const std::string& owner = "", int64_t row = 0);

  Database& database_;
  std::unordered_map<std::string, int64_t> rows_;  // by table, campaign and identity
  std::unordered_map<std::string, int64_t> keys_;  // by table and key
};

}  // namespace results::transfer
