#include <fstream>

#include "core/error.h"
#include "results/archive/database.h"
#include "results/archive/schema.h"
#include "results/transfer/faults.h"
#include "results/transfer/format.h"
#include "results/transfer/merge.h"
#include "results/transfer/record_writer.h"
#include "results/transfer/sources_state.h"

namespace results::transfer {
Sources::Sources() : state_(std::make_unique<State>()) {}
Sources::~Sources() = default;

void Sources::add_records(const std::filesystem::path& file, const Watch& watch) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file)) {
    throw core::InputError(file.string(), "cannot be read", "give a file that kernelwright archive export wrote");
  }
  auto staged = std::make_unique<archive::Database>(archive::Database::Temporary());
  archive::migrate(*staged, file);
  std::map<std::string, std::vector<int64_t>> lines;  // by table; its rows count from 1
  archive::Transaction transaction(*staged);
  RecordWriter writer(*staged);
  const auto size = static_cast<int64_t>(std::filesystem::file_size(file));
  read_records(in, file.string(), [&](const archive::Table& table, const core::JsonView& record, int64_t line) {
    std::vector<int64_t>& of_table = lines[table.name];
    const core::Json& json = record.json();
    if (writer.find(table, key_of(table, json), json.value("campaign", ""))) {
      record.fail("says again what a line before it said", "remove it");
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
        table + ": " + what, "the file was changed, or its archive is damaged: verify that");
  });
  state_->databases.push_back(std::move(staged));
}

void Sources::add_archive(const std::filesystem::path& file, const Watch& watch) {
  if (!std::filesystem::is_regular_file(file)) {
    throw core::InputError(file.string(), "is no file", "give the archives to merge");
  }
  if (std::ifstream(file).peek() == '{') {
    throw core::InputError(file.string(), "is a file of records and no archive",
                           "kernelwright archive import adds what it holds");
  }
  auto copy = std::make_unique<archive::Database>(archive::Database::Temporary());
  {
    archive::Database original(file);
    copy->copy_from(original);
  }
  archive::migrate(*copy, file);
  find_faults(
      *copy,
      [&](const std::string& table, int64_t row, const std::string& what) {
        throw core::InputError(file.string(), table + (row > 0 ? " " + std::to_string(row) : "") + ": " + what,
                               "kernelwright archive verify lists all that is wrong with it");
      },
      watch);
  state_->databases.push_back(std::move(copy));
}

Merged Sources::merge_into(archive::Recorder& archive, const Watch& watch) {
  archive::Database& target = archive::database_of(archive);
  Merged merged;
  archive::Transaction transaction(target);
  for (const auto& source : state_->databases) merge(*source, target, merged, watch);
  transaction.commit();
  return merged;
}

}  // namespace results::transfer
