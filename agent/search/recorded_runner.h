// The attempt runner of a campaign: reports recorded attempts in their order, has the others made, and charges the
// budget for each.
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
  // `live`: null when a campaign is replayed; then serve throws RecordEnded at the end of the record. All outlive it.
  RecordedRunner(results::archive::Recorder& archive, Journal& journal, Budget& budget, AttemptRunner* live);

  // A problem's search begins: on so many places. Where there is no live bench, it has the naive solution from here.
  void use_problem(const benchsuite::Problem& problem, size_t places);

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
  struct Begun {
    CandidatePtr candidate, incumbent;
    verifier::verdicts::Effort effort;
    std::function<void(Attempt)> done;
  };
  struct Told {
    std::function<void(Attempt)> done;
    Attempt attempt;
  };

  static bool fits(const Begun& begun, const Journal::Step& step);
  void tell(const Journal::Step& step);
  void go_on(Begun begun);
  bool places_changed();

  results::archive::Recorder& archive_;
  Journal& journal_;
  Budget& budget_;
  AttemptRunner* live_;
  std::list<Begun> waiting_;  // for their place in the record
  std::deque<Told> ready_;    // found among the steps left of the record
  size_t places_ = 0;
  sandbox::Solution naive_solution_;
  CandidatePtr naive_;
};

// Passes on what is new: watchers saw the consequences of recorded events before.
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
  void answered(const ExchangeReport& report) override {
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
