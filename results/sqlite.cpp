#include "results/sqlite.h"

#include <sqlite3.h>

#include <map>

#include "core/error.h"

namespace results {

struct Database::Handles {
  sqlite3* database = nullptr;
  std::map<std::string, sqlite3_stmt*> statements;

  ~Handles() {
    for (const auto& [sql, statement] : statements) sqlite3_finalize(statement);
    sqlite3_close(database);
  }
};

void Statement::Reset::operator()(sqlite3_stmt* statement) const {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

void Statement::check(int code, const char* what) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  throw core::SystemError(std::string("the archive failed to ") + what + ": " +
                          sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

Statement& Statement::bind(int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), next_++, value), "bind");
  return *this;
}
Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(statement_.get(), next_++, value), "bind");
  return *this;
}
Statement& Statement::bind(std::string_view text) {
  check(sqlite3_bind_text(statement_.get(), next_++, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT),
        "bind");
  return *this;
}
Statement& Statement::bind_blob(const std::vector<char>& bytes) {
  check(sqlite3_bind_blob(statement_.get(), next_++, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT),
        "bind");
  return *this;
}
Statement& Statement::bind_null() {
  check(sqlite3_bind_null(statement_.get(), next_++), "bind");
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  check(code, "write or read");
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column)));
}
std::vector<char> Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return bytes == nullptr ? std::vector<char>()
                          : std::vector<char>(bytes, bytes + sqlite3_column_bytes(statement_.get(), column));
}
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

Database::Database(const std::filesystem::path& file) : handles_(std::make_unique<Handles>()) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(file.c_str(), &handles_->database, flags, nullptr) != SQLITE_OK) {
    throw core::SystemError("cannot open " + file.string() + ": " + sqlite3_errmsg(handles_->database));
  }
  sqlite3_busy_timeout(handles_->database, 10'000);
}

Database::~Database() = default;

void Database::execute(const std::string& sql) {
  char* message = nullptr;
  if (sqlite3_exec(handles_->database, sql.c_str(), nullptr, nullptr, &message) != SQLITE_OK) {
    const std::string text = message != nullptr ? message : "unknown";
    sqlite3_free(message);
    throw core::SystemError("the archive failed: " + text);
  }
}

Statement Database::prepare(const std::string& sql) {
  sqlite3_stmt*& statement = handles_->statements[sql];
  if (statement == nullptr &&
      sqlite3_prepare_v2(handles_->database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    throw core::SystemError(std::string("the archive refuses a query: ") + sqlite3_errmsg(handles_->database));
  }
  return Statement(statement);
}

int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handles_->database); }

int64_t Database::pragma(const std::string& name) {
  Statement statement = prepare("PRAGMA " + name);
  return statement.step() ? statement.integer(0) : 0;
}

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const core::SystemError&) {
    // SQLite has already rolled back.
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace results
