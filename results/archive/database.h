// A thin, safe wrapper of SQLite: handles close themselves, errors are exceptions.
//
// core::InputError: the file is not an archive, is damaged, or may not be written. NoRoom and core::SystemError: it
// could not be written or read now. Each message says what to do; committed data stays.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "results/archive/records.h"

struct sqlite3;
struct sqlite3_stmt;

namespace results::archive {

// A new row contradicts an existing one, or a constraint of its table.
class Contradiction : public core::SystemError {
 public:
  using core::SystemError::SystemError;
};

// A prepared statement. Bind by position (from 1), step, read columns (from 0).
class Statement {
 public:
  Statement& bind(int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind(const char* text) { return bind(std::string_view(text)); }
  Statement& bind(const std::string& text) { return bind(std::string_view(text)); }
  Statement& bind_blob(const std::vector<char>& bytes);
  Statement& bind_null();
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  bool step();  // true while there is a row
  void run();   // steps to the end

  int64_t integer(int column) const;
  double real(int column) const;
  std::optional<double> real_or_none(int column) const;  // nullopt if the column is NULL
  std::string text(int column) const;
  std::vector<char> blob(int column) const;
  bool is_null(int column) const;
  enum class Type { integer, real, text, blob, null };
  Type type(int column) const;
  int column_named(std::string_view name) const;  // throws core::SystemError if there is none

 private:
  friend class Database;
  friend class Question;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  struct Reset {  // the database keeps prepared statements
    void operator()(sqlite3_stmt* statement) const;
  };
  void check(int code) const;

  std::unique_ptr<sqlite3_stmt, Reset> statement_;
  int next_ = 1;
};

class Database {
 public:
  // Opens or creates. Opens a read-only file too: only writing to it throws.
  explicit Database(const std::filesystem::path& file);
  struct Temporary {};
  explicit Database(Temporary);  // a nameless file: removed with this, even if the process is killed
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);       // one or more statements without parameters
  void log_writes();                          // ahead, in a file beside it (WAL); waits for those who do the same
  Statement prepare(const std::string& sql);  // from a cache; one use of each text at a time
  std::vector<std::string> prepared() const;  // all SQL given to prepare(), for tests of query plans
  int64_t last_id() const;                    // rowid of the newest insert
  int64_t pragma(const std::string& name);
  bool may_be_written() const;
  void copy_from(Database& other);  // replaces all content

 private:
  friend class Question;
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

// One statement written by a person. It can only read: during its lifetime the database denies everything else
// (writing, other files, settings, extensions).
class Question {
 public:
  // Throws core::InputError unless `sql` is a single reading statement.
  Question(Database& database, const std::string& sql, std::chrono::milliseconds at_most);

  const std::vector<std::string>& columns() const { return columns_; }
  bool step();  // true while there is a row; throws core::InputError when it fails or its time is over
  const Statement& row() const { return statement_; }

 private:
  struct Unguard {
    void operator()(sqlite3* database) const;
  };
  [[noreturn]] void refuse() const;

  std::chrono::milliseconds at_most_;
  std::chrono::steady_clock::time_point end_;
  std::unique_ptr<sqlite3, Unguard> guarded_;  // the database's own handle
  Statement statement_{nullptr};
  std::vector<std::string> columns_;
};

class Reader;
// For results/archive and results/transfer, the only users of SQL.
Database& database_of(const Reader& reader);

// The first column of every row.
std::vector<int64_t> ids_of(Statement statement);
std::vector<std::string> texts_of(Statement statement);

// During its lifetime, its database reads as of the first read.
class Snapshot {
 public:
  explicit Snapshot(Database& database);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& database_;
};

// Rolls back unless commit() was called.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace results::archive
