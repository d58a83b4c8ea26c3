// Reads an archive's rows as records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "results/archive/database.h"
#include "results/transfer/record_values.h"

namespace results::transfer {

struct Rows {
  std::string where = "true";            // SQL
  std::optional<int64_t> campaign = {};  // ?1
};
Rows rows_of_campaign(const Table& table, std::optional<int64_t> campaign);

class RecordReader {
 public:
  explicit RecordReader(Database& database) : database_(database) {}  // outlives it

  using Take = std::function<void(int64_t row, core::Json& record)>;
  using Fault = std::function<void(int64_t row, const std::string& what)>;
  // Calls `take` with the records of a table in row order. Reports unreadable rows to `fault`, or throws
  // core::InputError without one.
  void each(const Table& table, const Take& take, const Rows& which = {}, const Fault& fault = nullptr);
  int64_t count(const Table& table, const Rows& which = {});

  // The key by which others refer to a row. Throws core::InputError when there is no such row.
  std::string key_of_row(const Table& table, int64_t row);

 private:
  struct Values;
  Values values_of(const Table& table, const Statement& row) const;
  core::Json record_of(const Table& table, const Values& values);
  core::Json prompt_of(const core::Json& with_rows);
  core::Json children_of(const Column& column, int64_t row);
  std::string new_key_of_row(const Table& table, int64_t row);
  // Numbers records that are identical to earlier ones in `seen`.
  void number(const Table& table, int64_t row, core::Json& record, std::unordered_map<std::string, int64_t>& seen);

  Database& database_;
  std::unordered_map<std::string, std::unordered_map<int64_t, std::string>> keys_;
  std::unordered_map<std::string, std::string> selects_;
  std::unordered_map<std::string, std::unordered_map<int64_t, int64_t>> copies_;  // by table and row
};

}  // namespace results::transfer
