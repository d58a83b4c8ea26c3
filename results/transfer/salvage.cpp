// What can still be read of a damaged archive.
#include "core/error.h"
#include "results/archive/database.h"
#include "results/archive/schema.h"
#include "results/transfer/check.h"
#include "results/transfer/record_reader.h"
#include "results/transfer/record_writer.h"
#include "results/transfer/sources_state.h"

namespace results::transfer {
namespace {
constexpr int64_t kFarthest = 1 << 20;  // rows that a damaged page may hide

// Indices hold nothing of their own, and a damaged one hides rows that are sound.
void make_indices_anew(archive::Database& database) {
  std::vector<std::string> names;
  {
    archive::Statement found = database.prepare("SELECT name FROM sqlite_master WHERE type = 'index'");
    while (found.step()) names.push_back(found.text(0));
  }
  for (const std::string& name : names) {
    try {
      database.execute("REINDEX " + name);
    } catch (const std::exception&) {
      // Its table is damaged, too: what the index still finds is found.
    }
  }
}

// Takes every row that can be read: where reading stops, it goes on some rows further, and further each time in vain.
void each_readable(archive::Database& database, const archive::Table& table, const RecordReader::Take& take,
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
      if (skip == 0 || last > before) fault(last + skip + 1, "and what follows: " + problem);  // once for each gap
      if (last > before) skip = 0;
    }
  }
}
}  // namespace

Salvaged Sources::salvage(const std::filesystem::path& file) {
  auto staged = std::make_unique<archive::Database>(archive::Database::Temporary());
  archive::Database damaged{archive::Database::Temporary()};
  {
    archive::Database original(file);
    damaged.copy_from(original);
  }
  make_indices_anew(damaged);
  archive::migrate(damaged, file);
  archive::migrate(*staged, file);
  Salvaged salvaged;
  archive::Transaction transaction(*staged);
  RecordWriter writer(*staged);
  for (const archive::Table& table : archive::tables()) {
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
