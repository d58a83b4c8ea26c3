// Reads the archive: every judged candidate of every campaign, in one SQLite file.
//
// Only results/archive and results/transfer use SQL. Queries over several records: leaderboard.h, lineage.h,
// problems.h, campaign_tally.h, query.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/strict_json.h"
#include "results/archive/records.h"
#include "verifier/verdicts/calibration.h"
#include "verifier/verdicts/judgement.h"

namespace results::archive {

class Database;

class Reader {
 public:
  // Opens, creates or migrates. Throws core::InputError for a file that is not an archive.
  explicit Reader(const std::filesystem::path& file);
  Reader(Reader&&) noexcept;
  ~Reader();

  // Finds a measured or refused attempt of this campaign at this candidate or artefact with this effort, against this
  // incumbent if given.
  std::optional<int64_t> find_attempt(int64_t campaign, int64_t candidate, verifier::verdicts::Effort effort,
                                      std::optional<int64_t> against) const;
  std::optional<int64_t> find_artefact(int64_t campaign, const std::string& artefact, verifier::verdicts::Effort effort,
                                       int64_t against) const;
  bool has_attempt(int64_t id) const;
  RecordedAttempt attempt(int64_t id) const;  // throws core::InputError when there is none
  std::vector<int64_t> attempts_of_campaign(int64_t campaign) const;
  std::vector<int64_t> attempts_of_solution(int64_t solution) const;
  int64_t count_attempts() const;
  // Every attempt with a confirmed win against naive for the last judged version of the problem, by device and bench
  // workload, the fastest first (by the lower end of its interval).
  std::vector<Winner> winners(const std::string& problem) const;

  // What a profiler counted when it last watched the attempt's candidate on its device, in this attempt or another one;
  // empty: never. (Confirmations are not profiled.)
  std::vector<verifier::verdicts::Counters> counters_of(int64_t attempt) const;

  // Full judgements and confirmations of solutions other than naive, for the last judged version of the problem, on
  // devices of this backend: the correct ones, the fastest over naive first, or the refused ones, the newest first.
  // Where a solution was confirmed or refused in its confirmation, that counts in place of the full judgement before.
  enum class Found { correct, refused };
  std::vector<int64_t> judgements(const std::string& problem, const std::string& backend, Found found) const;

  // Finds by name or unambiguous prefix; the newest one if `name` is empty. Throws core::InputError.
  CampaignRecord find_campaign(const std::string& name) const;
  std::vector<CampaignRecord> campaigns() const;  // the newest first
  std::vector<EventRecord> events_of_campaign(int64_t campaign) const;
  // The newest events first, without those that only a replay needs.
  std::vector<EventRecord> newest_events(int64_t campaign, size_t limit) const;
  // Attempts, requests, replies and events of a campaign, in the recorded order.
  std::vector<StepRecord> steps_of_campaign(int64_t campaign) const;
  std::vector<RequestRecord> requests_of_campaign(int64_t campaign) const;  // in the order of sending
  ModelSpend model_spend(int64_t campaign) const;
  std::vector<ModelUse> models_of_campaign(int64_t campaign) const;  // in order of name

  // The solutions with this name or hash prefix (at least six digits), the newest first. "NAME@PROBLEM": those of this
  // problem alone.
  std::vector<SolutionRecord> find_solutions(const std::string& name_or_hash) const;
  SolutionRecord solution(int64_t id) const;  // throws core::SystemError when there is none

  std::optional<verifier::verdicts::Calibration> newest_calibration(const std::string& device) const;
  // The newest baseline of this library for this version of the problem.
  std::optional<int64_t> find_baseline(int64_t problem, const std::string& device, const std::string& library) const;
  // The newest baseline of each library. Empty arguments mean all. If a problem's files have changed, only the last
  // judged version counts.
  std::vector<BaselineRecord> baselines(const std::string& problem, const std::string& device) const;
  // The newest full selftest of each device; a quick one if there is no full one.
  std::vector<SelftestRecord> newest_selftests() const;

  int64_t count(const std::string& table) const;
  // A number that changes whenever another connection has written to the archive.
  int64_t data_version() const;
  // Makes every write through this connection throw.
  void deny_writing() const;
  // Copies everything to `file`. Throws core::SystemError, also if it exists.
  void copy_to(const std::filesystem::path& file) const;

 protected:
  Database& database() const { return *database_; }

 private:
  friend Database& database_of(const Reader& reader);  // database.h: for results/archive and results/transfer

  std::unique_ptr<Database> database_;
};

// During its lifetime, everything reads as of the first read.
class Moment {
 public:
  explicit Moment(const Reader& reader);
  ~Moment();
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;

 private:
  Database& database_;
};

}  // namespace results::archive
