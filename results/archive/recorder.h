// Writes to the archive.
//
// An attempt and everything that belongs to it is written in one transaction, so a kill at any moment loses at most the
// attempt in flight. Attempts and measurements are never changed afterwards. Every function may throw NoRoom.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "benchsuite/problem.h"
#include "results/archive/reader.h"
#include "sandbox/solution.h"

namespace results::archive {

class Recorder : public Reader {
 public:
  using Reader::Reader;

  // Each of these returns the existing row, or the new one.
  int64_t add_environment(const core::Json& facts);
  int64_t add_problem(const benchsuite::Problem& problem, const std::string& content_hash);
  int64_t add_solution(const NewSolution& solution);
  int64_t add_candidate(int64_t solution, const sandbox::TunableBinding& binding);

  // Also charges its campaign, in the same transaction, so that a kill loses both or neither.
  int64_t add_attempt(const NewAttempt& attempt);
  void add_event(std::optional<int64_t> campaign, const std::string& kind, const core::Json& details);
  int64_t add_request(const NewRequest& request);
  int64_t add_reply(const NewReply& reply);
  void add_proposed(int64_t reply, int64_t solution);
  int64_t add_calibration(const std::string& device, const verifier::verdicts::Calibration& calibration);
  int64_t add_baseline(const NewBaseline& baseline);
  int64_t add_selftest(const NewSelftest& selftest);

  // The campaign gets a name of eight letters and digits.
  CampaignRecord start_campaign(const core::Json& settings, int64_t environment);
  void set_campaign_status(int64_t campaign, const std::string& status);

 private:
  void add_measurement(int64_t attempt, int64_t against, const verifier::verdicts::Measurement& measurement);
  // The number of the campaign's next step; call it within the transaction that records the step.
  std::optional<int64_t> next_step(std::optional<int64_t> campaign);
};

}  // namespace results::archive
