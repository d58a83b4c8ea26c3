#include "results/archive/database.h"
#include "results/transfer/format.h"
#include "results/transfer/record_reader.h"
#include "results/transfer/transfer.h"

namespace results::transfer {
using core::Json;

void export_records(const archive::Reader& archive, std::optional<int64_t> campaign,
                    const std::function<void(const Json&)>& take, const Watch& watch) {
  archive::Database& database = archive::database_of(archive);
  const archive::Snapshot snapshot(database);
  RecordReader reader(database);
  Json header = new_header(database.pragma("user_version"));
  int64_t total = 0, done = 0;
  for (const archive::Table& table : archive::tables()) {
    const int64_t count = reader.count(table, rows_of_campaign(table, campaign));
    header["counts"][table.name] = count;
    total += count;
  }
  take(header);
  for (const archive::Table& table : archive::tables()) {
    reader.each(
        table,
        [&](int64_t, Json& record) {
          record[kTable] = table.name;
          take(record);
          if (watch) watch(++done, total);
        },
        rows_of_campaign(table, campaign));
  }
}

}  // namespace results::transfer
