// The attempt runner of a campaign: reports recorded attempts in order, passes the others to the live runner, and
// charges the budget for each.
#pragma once

#include <deque>
#include <list>
#include <optional>

#include "agent/search/attempt_runner.h"
#include "agent/search/budget.h"
#include "agent/search/journal.h"
#include "agent/search/progress.h"

namespace agent::search {

class RecordedRunner : public AttemptRunner {
 public:
  // `live`: null when a campaign is replayed; then serve throws RecordEnded at the end of the record. All arguments
  // must outlive it.
  RecordedRunner(results::archive::Recorder& archive, Journal& journal, Budget& budget, AttemptRunner* live);

  // Starts a problem's search with so many slots. Without a live runner, this provides the naive solution.
  void use_problem(const benchsuite::Problem& problem, size_t slots);

  size_t free_slots() const override;
  size_t in_progress() const override;
  void prepare(const CandidatePtr& candidate, verifier::verdicts::Effort effort) override;
  void begin(const CandidatePtr& candidate, const CandidatePtr& incumbent, verifier::verdicts::Effort effort,
             std::function<void(Attempt)> done) override;
  void wait(std::chrono::milliseconds at_most) override;
  void serve() override;
  void abandon() override;
  CandidatePtr naive() const override;
  CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                   const sandbox::TunableBinding& binding) override;

 private:
  struct Started {
    CandidatePtr candidate, incumbent;
    verifier::verdicts::Effort effort;
    std::function<void(Attempt)> done;
  };
  struct Finished {
    std::function<void(Attempt)> done;
    Attempt attempt;
  };

  static bool fits(const Started& started, const Journal::Step& step);
  void report(const Journal::Step& step);
  void proceed(Started started);
  bool slots_changed();

  results::archive::Recorder& archive_;
  Journal& journal_;
  Budget& budget_;
  AttemptRunner* live_;
  std::list<Started> waiting_;  // until the record reaches them
  std::deque<Finished> ready_;  // found among the remaining steps of the record
  size_t slots_ = 0;
  sandbox::Solution naive_solution_;
  CandidatePtr naive_;
};

// Forwards only new events: listeners have already seen the consequences of recorded ones.
class NewProgress : public Progress {
 public:
  NewProgress(Progress& watcher, const Journal& journal) : watcher_(watcher), journal_(journal) {}
  void campaign_started(const std::string& campaign, size_t problems, const BudgetLeft& budget) override {
    watcher_.campaign_started(campaign, problems, budget);
  }
  void problem_started(const std::string& problem, size_t index, size_t count) override {
    watcher_.problem_started(problem, index, count);
  }
  void attempted(const AttemptReport& report) override {
    if (!journal_.is_recalling()) watcher_.attempted(report);
  }
  void answered(const ReplyReport& report) override {
    if (!journal_.is_recalling()) watcher_.answered(report);
  }
  void problem_ended(const std::string& problem, double best, const std::string& why) override {
    watcher_.problem_ended(problem, best, why);
  }
  void noted(const std::string& what) override {
    if (!journal_.is_recalling()) watcher_.noted(what);
  }
  void warned(const std::string& what) override { watcher_.warned(what); }

 private:
  Progress& watcher_;
  const Journal& journal_;
};

}  // namespace agent::search
