// Transfer of archives: export to and import from JSON Lines, merging, checking, pruning, copies.
//
// docs/archive-transfer.md describes the format and merging.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/strict_json.h"
#include "results/archive/recorder.h"

namespace results::transfer {

// Progress: `done` of `total`. Called for every record.
using Watch = std::function<void(int64_t done, int64_t total)>;

// Calls `take` with the header, then with every record of the archive as of now. With `campaign`, only that campaign
// and what its replay needs. Throws core::InputError for a damaged row.
void export_records(const archive::Reader& archive, std::optional<int64_t> campaign,
                    const std::function<void(const core::Json& line)>& take, const Watch& watch = {});

// The result of merging. Counts are by table; an attempt and its parts count as one.
struct Merged {
  struct Count {
    int64_t added = 0, known = 0;
  };
  std::map<std::string, Count> tables;
  std::vector<std::string> continued;            // campaigns that continued in the other archive
  std::map<std::string, std::string> separated;  // campaigns that continued in both: the other's new name here
};

struct Finding {
  std::string table;
  int64_t row = 0;  // 0: no single row
  std::string what;
};
// The readable part of a damaged archive, by table, and the lost part: rows that are missing or invalid, and those that
// refer to them.
struct Salvaged {
  std::map<std::string, int64_t> kept;
  std::vector<Finding> lost;
};

// Archives to merge into another one. The sources do not change.
class Sources {
 public:
  Sources();
  ~Sources();
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  // Reads and checks a whole file of records. Throws core::InputError with file and line.
  void add_records(const std::filesystem::path& file, const Watch& watch = {});
  // Adds an archive of this or an earlier version. Throws core::InputError with table and row for an invalid record.
  void add_archive(const std::filesystem::path& file, const Watch& watch = {});
  // Adds the sound records of a damaged archive. Throws core::InputError if it cannot be opened at all.
  Salvaged salvage(const std::filesystem::path& file);
  // Adds the missing records to `archive` in one transaction: all of them or, on an exception, none.
  Merged merge_into(archive::Recorder& archive, const Watch& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The faults of an archive, up to `most` of them.
std::vector<Finding> verify(const archive::Reader& archive, size_t most = 100, const Watch& watch = {});

// Data that can be removed to make room. Confirmed results stay whole.
enum class Prunable {
  samples,  // samples of unconfirmed timings; medians and intervals stay
  prompts,  // their texts; hashes stay
  logs      // of unconfirmed compilations; prompts quote them, so a replay needs them
};
KW_ENUM_NAMES(Prunable, samples, prompts, logs)
struct PruneScope {
  std::optional<int64_t> campaign;  // absent: all finished campaigns, and records outside campaigns
  bool all = false;                 // also data needed to resume or replay this campaign
};
struct PrunedPart {
  Prunable what = Prunable::samples;
  int64_t rows = 0, bytes = 0;
};
// Lists what can be pruned; with `apply`, prunes it and shrinks the file. A kill leaves the file as before or as after.
// Throws core::InputError for a campaign that is running, or, unless `all`, not done.
std::vector<PrunedPart> prune(archive::Recorder& archive, const PruneScope& scope, bool apply);

// Copies all committed data, while others may write, and checks the copy. Throws core::InputError if `file` exists. A
// failure leaves no new file.
void back_up(const archive::Reader& archive, const std::filesystem::path& file);

struct TableSize {
  std::string table;  // including its indices
  int64_t rows = 0;
  std::optional<int64_t> bytes;  // absent if SQLite was built without dbstat
};
struct ArchiveInfo {
  int64_t schema = 0, file_bytes = 0, log_bytes = 0, free_bytes = 0;
  std::vector<TableSize> tables;  // the largest first
};
ArchiveInfo info_of(const archive::Reader& archive, const std::filesystem::path& file);

}  // namespace results::transfer
