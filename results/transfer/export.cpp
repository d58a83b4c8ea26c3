#include "results/archive_state.h"
#include "results/transfer/format.h"
#include "results/transfer/reader.h"
#include "results/transfer/transfer.h"

namespace results {
using core::Json;

void export_records(const Archive& archive, std::optional<int64_t> campaign,
                    const std::function<void(const Json&)>& take, const Watch& watch) {
  Database& database = archive.state().database;
  const Snapshot snapshot(database);
  Reader reader(database);
  Json header = new_header(database.pragma("user_version"));
  int64_t total = 0, done = 0;
  for (const Table& table : tables()) {
    const int64_t count = reader.count(table, rows_of_campaign(table, campaign));
    header["counts"][table.name] = count;
    total += count;
  }
  take(header);
  for (const Table& table : tables()) {
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

}  // namespace results
