// Copies of an archive, and the sizes of its tables.
#include <algorithm>

#include "core/error.h"
#include "results/archive/database.h"
#include "results/transfer/new_file.h"
#include "results/transfer/record_reader.h"
#include "results/transfer/transfer.h"

namespace results::transfer {
namespace {
// Bytes of each table with its indices; nullopt if SQLite cannot tell.
std::optional<std::map<std::string, int64_t>> bytes_by_table(Database& database) {
  std::map<std::string, int64_t> bytes;
  try {
    Statement sizes = database.prepare(
        "SELECT m.tbl_name, sum(d.pgsize) FROM dbstat d JOIN sqlite_master m ON m.name = d.name WHERE d.aggregate = "
        "TRUE"
        " GROUP BY m.tbl_name");
    while (sizes.step()) bytes[sizes.text(0)] = sizes.integer(1);
  } catch (const core::SystemError&) {
    return std::nullopt;
  }
  return bytes;
}

int64_t size_of(const std::filesystem::path& file) {
  std::error_code none;
  const auto size = std::filesystem::file_size(file, none);
  return none ? 0 : static_cast<int64_t>(size);
}
}  // namespace

void back_up(const archive::Reader& archive, const std::filesystem::path& file) {
  NewFile copy(file);
  archive.copy_to(copy.aside());
  Database written(copy.aside());
  Statement check = written.prepare("PRAGMA integrity_check(1)");
  if (!check.step() || check.text(0) != "ok") {
    throw core::InputError(file.string(), "would be a copy of a damaged archive (" + check.text(0) + ")",
                           "kernelwright archive verify lists the faults");
  }
  copy.keep();
}

ArchiveInfo info_of(const archive::Reader& archive, const std::filesystem::path& file) {
  Database& database = archive::database_of(archive);
  ArchiveInfo info{database.pragma("user_version"),
                   size_of(file),
                   size_of(file.string() + "-wal"),
                   database.pragma("freelist_count") * database.pragma("page_size"),
                   {}};
  auto bytes = bytes_by_table(database);
  std::vector<std::string> names;
  {
    Statement found = database.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name");
    while (found.step()) names.push_back(found.text(0));
  }
  for (const std::string& name : names) {
    Statement rows = database.prepare("SELECT count(*) FROM " + name);
    rows.step();
    info.tables.push_back({name, rows.integer(0), bytes ? std::optional((*bytes)[name]) : std::nullopt});
  }
  std::stable_sort(info.tables.begin(), info.tables.end(),
                   [](const TableSize& a, const TableSize& b) { return a.bytes.value_or(0) > b.bytes.value_or(0); });
  return info;
}

}  // namespace results::transfer
