// The events that a search reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/models/model.h"
#include "agent/search/budget.h"
#include "verifier/verdicts/judgement.h"

namespace agent::search {

struct AttemptReport {
  int64_t attempt = 0;  // its id in the archive
  int64_t number = 0;   // in this campaign, from 1
  std::string problem, solution, tunables;
  verifier::verdicts::Effort effort = verifier::verdicts::Effort::screen;
  const verifier::verdicts::Verdict* verdict = nullptr;
  std::optional<double> speed_up;  // over naive
  bool reused = false;             // an identical binary with the same plan had been judged
  bool new_best = false;           // confirmed
  double best = 1;                 // confirmed speed-up over naive so far, this problem
  BudgetLeft left;
};

// A model answered, or its request failed.
struct ReplyReport {
  std::string problem, model, task;
  std::string failed;   // why there is no reply; empty when there is one
  models::Usage usage;  // of the whole campaign
  double dollars = 0;   // of the whole campaign
  int64_t requests = 0;
  size_t in_flight = 0;
};

class Progress {
 public:
  virtual ~Progress() = default;
  virtual void campaign_started(const std::string& campaign, size_t problems, const BudgetLeft& budget) = 0;
  virtual void problem_started(const std::string& problem, size_t index, size_t count) = 0;
  virtual void attempted(const AttemptReport& report) = 0;
  virtual void answered(const ReplyReport& report) = 0;
  // `why`: the reason the search of this problem ended.
  virtual void problem_ended(const std::string& problem, double best, const std::string& why) = 0;
  // For information; no action needed.
  virtual void noted(const std::string& what) = 0;
  // Something on our side failed and was handled; the campaign continues.
  virtual void warned(const std::string& what) = 0;
};

}  // namespace agent::search
