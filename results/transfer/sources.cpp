#include <cstdlib>

#include <array>
#include <cerrno>
#include <fstream>

#include "core/error.h"
#include "core/text.h"
#include "results/archive/database.h"
#include "results/archive/schema.h"
#include "results/transfer/check.h"
#include "results/transfer/format.h"
#include "results/transfer/record_reader.h"
#include "results/transfer/record_writer.h"
#include "results/transfer/sources.h"

namespace results::transfer {
Sources::Sources() : state_(std::make_unique<State>()) {}
Sources::~Sources() = default;

void Sources::add_records(const std::filesystem::path& file, const Watch& watch) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) {
    throw core::InputError(file.string(), "cannot be read", "give a file that kernelwright archive export wrote");
  }
  auto staged = std::make_unique<Database>(Database::Temporary());
  archive::migrate(*staged, file);
  std::map<std::string, std::vector<int64_t>> lines;  // by table; rows count from 1
  Transaction transaction(*staged);
  RecordWriter writer(*staged);
  const auto size = static_cast<int64_t>(std::filesystem::file_size(file));
  read_records(in, file.string(), [&](const Table& table, const core::JsonView& record, int64_t line) {
    std::vector<int64_t>& of_table = lines[table.name];
    const core::Json& json = record.json();
    if (writer.find(table, key_of(table, json), json.value("campaign", ""))) {
      record.fail("repeats an earlier line", "remove it");
    }
    writer.add(table, record);
    of_table.push_back(line);
    if (watch) watch(in.tellg(), size);
  });
  transaction.commit();
  find_misfits(*staged, [&](const std::string& table, int64_t row, const std::string& what) {
    const std::vector<int64_t>& of_table = lines[table];
    const bool known = row > 0 && row <= static_cast<int64_t>(of_table.size());
    throw core::InputError(
        known ? file.string() + ":" + std::to_string(of_table[static_cast<size_t>(row) - 1]) : file.string(),
        table + ": " + what, "the file was changed, or its archive is damaged: run kernelwright archive verify on it");
  });
  state_->databases.push_back(std::move(staged));
}

void Sources::add_archive(const std::filesystem::path& file, const Watch& watch) {
  if (!std::filesystem::is_regular_file(file)) {
    throw core::InputError(file.string(), "is not a file", "give the archives to merge");
  }
  if (std::ifstream(file).peek() == '{') {
    throw core::InputError(file.string(), "is a file of records, not an archive",
                           "kernelwright archive import adds its records");
  }
  auto copy = std::make_unique<Database>(Database::Temporary());
  {
    Database original(file);
    copy->copy_from(original);
  }
  archive::migrate(*copy, file);
  find_faults(
      *copy,
      [&](const std::string& table, int64_t row, const std::string& what) {
        throw core::InputError(file.string(), table + (row > 0 ? " " + std::to_string(row) : "") + ": " + what,
                               "kernelwright archive verify lists all faults with it");
      },
      watch);
  state_->databases.push_back(std::move(copy));
}

Merged Sources::merge_into(archive::Recorder& archive, const Watch& watch) {
  Database& target = archive::database_of(archive);
  Merged merged;
  Transaction transaction(target);
  for (const auto& source : state_->databases) merge(*source, target, merged, watch);
  transaction.commit();
  return merged;
}

namespace {
constexpr int64_t kFarthest = 1 << 20;  // rows to skip at most for a damaged page

// The bytes that the header of an SQLite file promises; 0 without a header.
uint64_t promised_bytes(const std::filesystem::path& file) {
  std::array<unsigned char, 32> header{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(header.data()), header.size())) return 0;
  const auto number = [&](size_t at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = at; i < at + bytes; ++i) value = value << 8 | header[i];
    return value;
  };
  const uint64_t page_bytes = number(16, 2) == 1 ? 65536 : number(16, 2), pages = number(28, 4);
  return page_bytes * pages;
}

// SQLite reads no page of a file that is shorter than its header promises: a copy gets its length back, with zeros.
class Lengthened {
 public:
  explicit Lengthened(const std::filesystem::path& file) {
    std::string name = (std::filesystem::temp_directory_path() / "kernelwright-recover-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw core::SystemError("no temporary folder " + name, errno);
    folder_ = name;
    std::filesystem::copy_file(file, copy());
    std::filesystem::resize_file(copy(), promised_bytes(file));
    const std::string log = file.string() + "-wal";
    if (std::filesystem::exists(log)) std::filesystem::copy_file(log, copy().string() + "-wal");
  }
  ~Lengthened() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Lengthened(const Lengthened&) = delete;
  Lengthened& operator=(const Lengthened&) = delete;

  std::filesystem::path copy() const { return folder_ / "archive.db"; }

 private:
  std::filesystem::path folder_;
};

std::vector<std::string> columns_in(Database& database, const std::string& table) {
  return archive::texts_of(database.prepare("SELECT name FROM pragma_table_info('" + table + "')"));
}

void bind_value(Statement& to, const Statement& from, int column) {
  switch (from.type(column)) {
    case Statement::Type::integer:
      to.bind(from.integer(column));
      break;
    case Statement::Type::real:
      to.bind(from.real(column));
      break;
    case Statement::Type::text:
      to.bind(from.text(column));
      break;
    case Statement::Type::blob:
      to.bind_blob(from.blob(column));
      break;
    case Statement::Type::null:
      to.bind_null();
      break;
  }
}

// Copies the readable rows, in the order of the table itself. After a failure it skips ahead, further after each one.
void copy_rows(Database& from, Database& to, const std::string& table) {
  const std::vector<std::string> columns = columns_in(from, table);
  const std::string names = "rowid, " + core::join(columns, ", ");
  std::string marks = "?";
  for (size_t i = 0; i < columns.size(); ++i) marks += ", ?";
  int64_t last = 0;
  for (int64_t skip = 0; skip <= kFarthest; skip = skip == 0 ? 1 : 2 * skip) {
    const int64_t before = last;
    try {
      Statement rows =
          from.prepare("SELECT " + names + " FROM " + table + " NOT INDEXED WHERE rowid > ? ORDER BY rowid");
      rows.bind(last + skip);
      while (rows.step()) {
        last = rows.integer(0);
        Statement row = to.prepare("INSERT OR IGNORE INTO " + table + " (" + names + ") VALUES (" + marks + ")");
        for (int column = 0; column <= static_cast<int>(columns.size()); ++column) bind_value(row, rows, column);
        row.run();
      }
      return;
    } catch (const std::exception&) {
      if (last > before) skip = 0;
    }
  }
}

// The readable rows of a damaged archive in a sound one of its own schema: indices are made anew, since a damaged one
// hides sound rows. Nothing is checked.
void copy_readable(Database& from, Database& to) {
  std::vector<std::string> tables, definitions;
  {
    Statement found =
        from.prepare("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'");
    while (found.step()) {
      (found.text(0) == "table" ? tables : definitions)
          .push_back(found.text(0) == "table" ? found.text(1) : found.text(2));
      if (found.text(0) == "table") to.execute(found.text(2));
    }
  }
  for (const std::string& table : tables) copy_rows(from, to, table);
  for (const std::string& sql : definitions) to.execute(sql);
  to.execute("PRAGMA application_id = " + std::to_string(from.pragma("application_id")) +
             "; PRAGMA user_version = " + std::to_string(from.pragma("user_version")));
}

// Reads the pages that are there, as an archive of this version. Throws core::InputError when there are too few for any
// record.
void read_damaged(const std::filesystem::path& file, Database& into) {
  try {
    const bool cut_off =
        std::filesystem::is_regular_file(file) && std::filesystem::file_size(file) < promised_bytes(file);
    const auto longer = cut_off ? std::make_unique<Lengthened>(file) : nullptr;
    Database copied{Database::Temporary()};
    {
      Database original(longer ? longer->copy() : file);
      copied.copy_from(original);
    }
    copy_readable(copied, into);
    archive::migrate(into, file);
  } catch (const core::InputError& error) {
    throw core::InputError(file.string(), "holds nothing that could be saved: it " + error.problem(),
                           "restore a copy (made by kernelwright archive backup)");
  }
}

// Takes every readable row: after a failure it skips ahead, further after each failure.
void each_readable(Database& database, const Table& table, const RecordReader::Take& take,
                   const RecordReader::Fault& fault) {
  int64_t last = 0;
  for (int64_t skip = 0; skip <= kFarthest; skip = skip == 0 ? 1 : 2 * skip) {
    const int64_t before = last;
    try {
      RecordReader(database).each(
          table,
          [&](int64_t row, core::Json& record) {
            last = row;
            take(row, record);
          },
          {"rowid > ?1", last + skip}, fault);
      return;
    } catch (const std::exception& error) {
      const auto* said = dynamic_cast<const core::InputError*>(&error);
      const std::string problem = said != nullptr ? said->problem() : error.what();
      if (skip == 0 || last > before) fault(last + skip + 1, "and what follows: " + problem);  // once per gap
      if (last > before) skip = 0;
    }
  }
}
}  // namespace

Salvaged Sources::salvage(const std::filesystem::path& file) {
  auto staged = std::make_unique<Database>(Database::Temporary());
  Database damaged{Database::Temporary()};
  read_damaged(file, damaged);
  archive::migrate(*staged, file);
  Salvaged salvaged;
  Transaction transaction(*staged);
  RecordWriter writer(*staged);
  for (const Table& table : tables()) {
    each_readable(
        damaged, table,
        [&](int64_t row, core::Json& record) {
          try {
            const core::JsonView view(record, table.name);
            check_record(table, view);
            writer.add(table, view);
            ++salvaged.kept[table.name];
          } catch (const core::InputError& error) {
            salvaged.lost.push_back({table.name, row, error.problem()});
          }
        },
        [&](int64_t row, const std::string& what) {
          salvaged.lost.push_back({table.name, row, what});
        });
  }
  transaction.commit();
  state_->databases.push_back(std::move(staged));
  return salvaged;
}

}  // namespace results::transfer
