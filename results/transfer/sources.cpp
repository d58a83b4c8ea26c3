#include <fstream>

#include "core/error.h"
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

// Indices hold no data of their own, and damaged ones hide sound rows.
void make_indices_anew(Database& database) {
  std::vector<std::string> names;
  {
    Statement found = database.prepare("SELECT name FROM sqlite_master WHERE type = 'index'");
    while (found.step()) names.push_back(found.text(0));
  }
  for (const std::string& name : names) {
    try {
      database.execute("REINDEX " + name);
    } catch (const std::exception&) {
      // The table is damaged, too: keeps the index as it is.
    }
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
  {
    Database original(file);
    damaged.copy_from(original);
  }
  make_indices_anew(damaged);
  archive::migrate(damaged, file);
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
