#include "results/archive/database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

namespace results::archive {
namespace {
// Wait for other writers: merging a large archive is one transaction.
constexpr int kPatience_ms = 300'000;
}  // namespace

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

namespace {
std::string file_of(sqlite3* database) {
  const char* file = sqlite3_db_filename(database, "main");
  return file == nullptr || *file == '\0' ? "a temporary archive" : file;
}

// SQLite reports a full disk only if the system does, and a file size limit as neither.
bool is_no_room(sqlite3* database) {
  switch (sqlite3_extended_errcode(database)) {
    case SQLITE_FULL:
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_SHMSIZE:
      return true;
    default:
      return false;
  }
}

// SQLite's errors as messages for people.
[[noreturn]] void fail(sqlite3* database, const std::string& file) {
  const std::string said = sqlite3_errmsg(database);
  const int error_number = sqlite3_system_errno(database);
  const std::string cause = error_number != 0 ? std::string(": ") + std::strerror(error_number) : "";
  const int code = sqlite3_errcode(database);  // the low byte of the extended one
  if (is_no_room(database)) {
    throw NoRoom(
        file + ": cannot be written (" + said + ")" + cause +
        "\n  check whether its disk or your quota is full, make room and continue; all recorded results are kept");
  }
  switch (code) {
    case SQLITE_NOTADB:
      throw core::InputError(
          file, "is not an archive, or its start is damaged (" + said + ")",
          "give another file with --archive, or restore a copy (made by kernelwright archive backup)");
    case SQLITE_CORRUPT:
      throw core::InputError(file, "is damaged (" + said + ")",
                             "restore a copy (made by kernelwright archive backup), or save its readable records: "
                             "kernelwright --archive NEW archive recover " +
                                 file);
    case SQLITE_READONLY:
      throw core::InputError(
          file, "may not be written (" + said + ")",
          "make the file and its folder writable, copy it to where they are, or give another file with "
          "--archive");
    case SQLITE_CANTOPEN:
      throw core::InputError(
          file, "cannot be opened" + cause,
          "check that it and its folder exist and are readable, or give another file with --archive");
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw core::InputError(file, "may not be used (" + said + ")", "give another file with --archive");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw core::SystemError(file + ": another program has held its lock for " + std::to_string(kPatience_ms / 1000) +
                              " seconds\n  end that (fuser " + file + " shows it) and continue");
    case SQLITE_IOERR:
      throw core::SystemError(file + ": cannot be read or written (" + said + ")" + cause +
                              "\n  check that disk, then continue; all recorded results are kept");
    case SQLITE_CONSTRAINT:
      throw Contradiction(file + ": the archive refuses the row: " + said);
    default:
      throw core::SystemError(file + ": the archive failed: " + said);
  }
}
}  // namespace

void Statement::check(int code) const {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  sqlite3* database = sqlite3_db_handle(statement_.get());
  fail(database, file_of(database));
}

Statement& Statement::bind(int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), next_++, value));
  return *this;
}
Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(statement_.get(), next_++, value));
  return *this;
}
Statement& Statement::bind(std::string_view text) {
  check(sqlite3_bind_text(statement_.get(), next_++, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
  return *this;
}
Statement& Statement::bind_blob(const std::vector<char>& bytes) {
  const char* const data = bytes.empty() ? "" : bytes.data();  // a null pointer would bind NULL
  check(sqlite3_bind_blob(statement_.get(), next_++, data, static_cast<int>(bytes.size()), SQLITE_TRANSIENT));
  return *this;
}
Statement& Statement::bind_null() {
  check(sqlite3_bind_null(statement_.get(), next_++));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  check(code);
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::optional<double> Statement::real_or_none(int column) const {
  return is_null(column) ? std::nullopt : std::optional(real(column));
}
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
int Statement::column_named(std::string_view name) const {
  const int count = sqlite3_column_count(statement_.get());
  for (int i = 0; i < count; ++i) {
    if (name == sqlite3_column_name(statement_.get(), i)) return i;
  }
  throw core::SystemError("an answer of the archive has no column " + std::string(name));
}
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

Statement::Type Statement::type(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return Type::integer;
    case SQLITE_FLOAT:
      return Type::real;
    case SQLITE_TEXT:
      return Type::text;
    case SQLITE_BLOB:
      return Type::blob;
    default:
      return Type::null;
  }
}

namespace {
// In WAL mode even readers need files beside the archive. If those cannot be created, no other process has them: the
// file is complete and cannot change.
bool needs_no_log(const std::filesystem::path& file) {
  std::error_code none;
  const std::filesystem::path log = file.string() + "-wal";
  const bool has_log = std::filesystem::exists(log, none) && std::filesystem::file_size(log, none) > 0;
  return !has_log && ::access(file.c_str(), R_OK) == 0 &&
         ::access(std::filesystem::absolute(file).parent_path().c_str(), W_OK) != 0;
}

std::string uri_of(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    if (c == '%' || c == '?' || c == '#') {
      uri += {'%', kDigits[c >> 4], kDigits[c & 15]};
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}
}  // namespace

Database::Database(const std::filesystem::path& file) : handles_(std::make_unique<Handles>()) {
  const bool fixed = needs_no_log(file);
  const int flags = fixed ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const std::string name = fixed ? uri_of(file) : file.string();
  if (sqlite3_open_v2(name.c_str(), &handles_->database, flags, nullptr) != SQLITE_OK) {
    fail(handles_->database, file.string());
  }
  sqlite3_busy_timeout(handles_->database, kPatience_ms);
}

Database::Database(Temporary) : handles_(std::make_unique<Handles>()) {
  if (sqlite3_open("", &handles_->database) != SQLITE_OK) fail(handles_->database, "a temporary archive");
}

Database::~Database() = default;

bool Database::may_be_written() const { return sqlite3_db_readonly(handles_->database, "main") == 0; }

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handles_->database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail(handles_->database, file_of(handles_->database));
  }
}

// SQLite does not wait here: its busy handler is not asked where two connections would wait for each other.
void Database::log_writes() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience_ms);
  const auto try_it = [&] {
    return sqlite3_exec(handles_->database, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
  };
  int code = try_it();
  for (; code == SQLITE_BUSY && std::chrono::steady_clock::now() < end; code = try_it()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (code != SQLITE_OK) fail(handles_->database, file_of(handles_->database));
}

Statement Database::prepare(const std::string& sql) {
  sqlite3_stmt*& statement = handles_->statements[sql];
  if (statement == nullptr &&
      sqlite3_prepare_v2(handles_->database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    fail(handles_->database, file_of(handles_->database));
  }
  return Statement(statement);
}

std::vector<std::string> Database::prepared() const {
  std::vector<std::string> texts;
  for (const auto& [sql, statement] : handles_->statements) texts.push_back(sql);
  return texts;
}

int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handles_->database); }

int64_t Database::pragma(const std::string& name) {
  Statement statement = prepare("PRAGMA " + name);
  return statement.step() ? statement.integer(0) : 0;
}

void Database::copy_from(Database& other) {
  sqlite3_backup* copying = sqlite3_backup_init(handles_->database, "main", other.handles_->database, "main");
  if (copying == nullptr) fail(handles_->database, file_of(handles_->database));
  sqlite3_backup_step(copying, -1);
  if (sqlite3_backup_finish(copying) == SQLITE_OK) return;
  // The target's handle has the error, whichever side failed.
  fail(handles_->database, file_of(other.handles_->database));
}

namespace {
constexpr int kLongestValue_bytes = 64 << 20;
constexpr int kLongestPattern_bytes = 1000;  // for LIKE and GLOB, whose time is the product of two lengths
constexpr int kInstructionsBetweenLooks = 10'000;

int allow_reading(void*, int action, const char* what, const char* function, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(function) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:  // only those that describe tables; the argument is a table's name
      for (const std::string_view pragma : {"table_info", "table_xinfo", "table_list", "index_list", "index_info"}) {
        if (pragma == what) return SQLITE_OK;
      }
      return SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

int time_is_over(void* end) {
  return std::chrono::steady_clock::now() > *static_cast<const std::chrono::steady_clock::time_point*>(end) ? 1 : 0;
}
}  // namespace

void Question::Unguard::operator()(sqlite3* database) const {
  sqlite3_progress_handler(database, 0, nullptr, nullptr);
  sqlite3_set_authorizer(database, nullptr, nullptr);
  sqlite3_exec(database, "PRAGMA query_only = OFF", nullptr, nullptr, nullptr);
}

Question::Question(Database& database, const std::string& sql, std::chrono::milliseconds at_most)
    : at_most_(at_most), end_(std::chrono::steady_clock::now() + at_most) {
  sqlite3* handle = database.handles_->database;
  // Table-valued functions register at their first use, which the authorizer would deny later.
  database.execute("SELECT 1 FROM json_each('[]'), json_tree('[]'); PRAGMA query_only = ON");
  guarded_.reset(handle);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue_bytes);
  sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, kLongestPattern_bytes);
  sqlite3_set_authorizer(handle, allow_reading, nullptr);
  sqlite3_progress_handler(handle, kInstructionsBetweenLooks, time_is_over, &end_);
  sqlite3_stmt*& statement = database.handles_->statements["the question"];  // a key that is no SQL
  sqlite3_finalize(std::exchange(statement, nullptr));
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, &rest) != SQLITE_OK) refuse();
  if (statement == nullptr) throw core::InputError("query", "asks nothing", "give a SELECT");
  sqlite3_stmt* second = nullptr;
  const bool more = sqlite3_prepare_v2(handle, rest, -1, &second, nullptr) != SQLITE_OK || second != nullptr;
  sqlite3_finalize(second);
  if (more) throw core::InputError("query", "holds more than one statement", "give one at a time");
  statement_ = Statement(statement);
  for (int i = 0; i < sqlite3_column_count(statement); ++i) columns_.emplace_back(sqlite3_column_name(statement, i));
}

void Question::refuse() const {
  sqlite3* handle = guarded_.get();
  const std::string said = sqlite3_errmsg(handle);
  switch (sqlite3_errcode(handle)) {
    case SQLITE_INTERRUPT:
      throw core::InputError("query", "took longer than " + std::to_string(at_most_.count()) + " ms and was stopped",
                             "query less, or allow more time with --seconds");
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      throw core::InputError("query", "may only read the archive (" + said + ")", "give a SELECT");
    default:
      throw core::InputError("query", said);
  }
}

bool Question::step() {
  const int code = sqlite3_step(statement_.statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) refuse();
  return code == SQLITE_ROW;
}

Snapshot::Snapshot(Database& database) : database_(database) { database_.execute("BEGIN"); }

Snapshot::~Snapshot() {
  try {
    database_.execute("COMMIT");
  } catch (const std::exception&) {
    // Already finalised.
  }
}

Transaction::Transaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const std::exception&) {
    // SQLite has already rolled back.
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

std::vector<int64_t> ids_of(Statement statement) {
  std::vector<int64_t> all;
  while (statement.step()) all.push_back(statement.integer(0));
  return all;
}

std::vector<std::string> texts_of(Statement statement) {
  std::vector<std::string> all;
  while (statement.step()) all.push_back(statement.text(0));
  return all;
}

}  // namespace results::archive
