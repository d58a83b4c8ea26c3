// A thin, safe face for SQLite: handles that close themselves, errors that are exceptions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace results {

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
  std::string text(int column) const;
  std::vector<char> blob(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  struct Reset {  // statements are kept prepared by their database
    void operator()(sqlite3_stmt* statement) const;
  };
  void check(int code, const char* what) const;

  std::unique_ptr<sqlite3_stmt, Reset> statement_;
  int next_ = 1;
};

class Database {
 public:
  // Opens or creates. Throws core::SystemError.
  explicit Database(const std::filesystem::path& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);       // one or more statements without parameters
  Statement prepare(const std::string& sql);  // from a cache; one use of each text at a time
  int64_t last_id() const;                    // rowid of the newest insert
  int64_t pragma(const std::string& name);

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

// Commits when told to, otherwise rolls back.
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

}  // namespace results
