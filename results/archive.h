// The archive: every judged candidate of every campaign, in one SQLite file. Only results/ speaks SQL.
//
// An attempt and all that belongs to it is written in one transaction, so a kill at any moment loses at most the
// attempt in flight. Attempts and measurements are never changed afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchsuite/problem.h"
#include "core/strict_json.h"
#include "results/records.h"
#include "sandbox/solution.h"
#include "verifier/calibration.h"
#include "verifier/judgement.h"

namespace results {

class Archive {
 public:
  // Opens, creates or migrates. Throws core::InputError for a file that is no archive of ours.
  explicit Archive(const std::filesystem::path& file);
  Archive(Archive&&) noexcept;
  ~Archive();

  int64_t add_environment(const core::Json& facts);
  int64_t add_problem(const benchsuite::Problem& problem, const std::string& content_hash);
  int64_t add_solution(const NewSolution& solution);
  int64_t add_candidate(int64_t solution, const sandbox::TunableBinding& binding);
  // Charges its campaign in the same transaction, so that a kill loses neither without the other.
  int64_t add_attempt(const NewAttempt& attempt);
  void add_event(std::optional<int64_t> campaign, const std::string& kind, const core::Json& details);

  int64_t add_calibration(const std::string& device, const verifier::Calibration& calibration);
  std::optional<verifier::Calibration> newest_calibration(const std::string& device) const;

  int64_t add_baseline(const NewBaseline& baseline);
  // The newest of this library for this version of the problem.
  std::optional<int64_t> find_baseline(int64_t problem, const std::string& device, const std::string& library) const;
  // The newest of each library. Empty arguments mean all. Of a problem whose files have changed, only the version that
  // was judged last counts.
  std::vector<BaselineRecord> baselines(const std::string& problem, const std::string& device) const;

  int64_t add_selftest(const NewSelftest& selftest);
  // The newest of each device that was no quick one; a quick one where there is no other.
  std::vector<SelftestRecord> newest_selftests() const;

  int64_t add_request(const NewRequest& request);
  int64_t add_reply(const NewReply& reply);
  void add_proposed(int64_t reply, int64_t solution);
  // In the order in which they were asked.
  std::vector<ExchangeRecord> exchanges_of_campaign(int64_t campaign) const;
  ModelSpend model_spend(int64_t campaign) const;

  // Attempts, requests, replies and events of a campaign, in the order in which they were written down.
  std::vector<StepRecord> steps_of_campaign(int64_t campaign) const;
  // A copy of everything. Throws core::SystemError, as when there is such a file already.
  void copy_to(const std::filesystem::path& file) const;

  // The campaign gets a name of eight letters and digits.
  CampaignRecord start_campaign(const core::Json& settings, int64_t environment);
  void set_campaign_status(int64_t campaign, const std::string& status);
  // By name or unambiguous prefix; the newest one when `name` is empty. Throws core::InputError.
  CampaignRecord find_campaign(const std::string& name) const;

  // An attempt of this campaign at this candidate and effort, against this incumbent if one is given.
  std::optional<int64_t> find_attempt(int64_t campaign, int64_t candidate, verifier::Effort effort,
                                      std::optional<int64_t> against) const;
  // A measured or refused attempt of this campaign at the same artefact.
  std::optional<int64_t> find_artefact(int64_t campaign, const std::string& artefact, verifier::Effort effort,
                                       int64_t against) const;
  // All campaigns, the newest first.
  std::vector<CampaignRecord> campaigns() const;
  std::vector<EventRecord> events_of_campaign(int64_t campaign) const;

  RecordedAttempt attempt(int64_t id) const;  // throws core::InputError when there is none
  std::vector<int64_t> attempts_of_campaign(int64_t campaign) const;
  std::vector<int64_t> attempts_of_solution(int64_t solution) const;
  int64_t count_attempts() const;

  // The solutions with this name, or whose hash begins like this (at least six digits of it); the newest first.
  std::vector<SolutionRecord> find_solutions(const std::string& name_or_hash) const;

  // For the readers beside it in results/ (archive_state.h): leaderboard.h, scores.h, lineage.h, ...
  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace results
