#include "results/transfer/format.h"

#include <map>

#include "core/error.h"
#include "results/archive/database.h"
#include "results/transfer/check.h"
#include "results/transfer/record_reader.h"
#include "results/transfer/record_values.h"
#include "results/transfer/transfer.h"

namespace results::transfer {
namespace {
using core::Json;
using core::JsonView;
constexpr const char* kFormat = "kernelwright archive";
constexpr int64_t kVersion = 1;
constexpr size_t kLongestLine = size_t{256} << 20;
constexpr const char* kAgain = "the file is truncated or was changed: export it again";

std::map<std::string, int64_t> counts_in(const JsonView& header) {
  if (!header.has("format") || header.at("format").json() != kFormat) {
    header.fail("is not a file that kernelwright archive export wrote");
  }
  if (const int64_t version = header.at("version").integer(); version != kVersion) {
    header.at("version").fail("is " + std::to_string(version) + ", this program knows " + std::to_string(kVersion),
                              "update kernelwright");
  }
  header.expect_object({"format", "version", "schema", "counts"});
  std::map<std::string, int64_t> counts;
  for (const auto& [name, count] : header.at("counts").members()) counts[name] = count.integer(0);
  return counts;
}

// A table unknown to this program may come from a newer version.
const Table& table_of(const JsonView& record) {
  const std::string name = record.at(kTable).string();
  for (const Table& table : tables()) {
    if (table.name == name) return table;
  }
  record.at(kTable).fail("\"" + name + "\" is unknown here", "update kernelwright");
}
}  // namespace

Json new_header(int64_t schema) {
  return {{"format", kFormat}, {"version", kVersion}, {"schema", schema}, {"counts", Json::object()}};
}

void read_records(std::istream& in, const std::string& name,
                  const std::function<void(const Table&, const JsonView&, int64_t)>& take) {
  std::map<std::string, int64_t> expected, found;
  std::string line;
  int64_t number = 0;
  while (std::getline(in, line)) {
    const std::string where = name + ":" + std::to_string(++number);
    if (line.size() > kLongestLine) throw core::InputError(where, "is longer than any record", kAgain);
    if (number == 1 && line.rfind("SQLite format 3", 0) == 0) {
      throw core::InputError(name, "is an archive, not a file of records",
                             "kernelwright archive merge adds its records");
    }
    if (number == 1 && line.rfind('{', 0) != 0) {
      throw core::InputError(name, "is not a file of records: its first line is not a JSON object",
                             "kernelwright archive export writes such files");
    }
    const Json json = core::parse_json(line, where);
    const JsonView view(json, where);
    if (number == 1) {
      expected = counts_in(view);
      for (const auto& [table, count] : expected) found[table] = 0;
      continue;
    }
    const Table& table = table_of(view);
    check_record(table, view);
    ++found[table.name];
    take(table, view, number);
  }
  if (number == 0) throw core::InputError(name, "is empty", "kernelwright archive export writes such files");
  for (const auto& [table, count] : found) {
    const int64_t all = expected.count(table) > 0 ? expected.at(table) : 0;
    if (count == all) continue;
    throw core::InputError(name,
                           "holds " + std::to_string(count) + " " + table + " of the " + std::to_string(all) +
                               " that its first line announces",
                           kAgain);
  }
}

using core::Json;

void export_records(const archive::Reader& archive, std::optional<int64_t> campaign,
                    const std::function<void(const Json&)>& take, const Watch& watch) {
  Database& database = archive::database_of(archive);
  const Snapshot snapshot(database);
  RecordReader reader(database);
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

}  // namespace results::transfer
