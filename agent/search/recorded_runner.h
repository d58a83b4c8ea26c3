// The outside events of a campaign's searches, and each search's attempt runner over them.
#pragma once

#include <deque>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "agent/search/attempt_runner.h"
#include "agent/search/budget.h"
#include "agent/search/journal.h"
#include "agent/search/progress.h"

namespace agent::search {

class RecordedRunner;

// Hands events to the searches of a campaign one at a time: recorded ones in their order, then live ones.
class SearchEvents {
 public:
  // The journal must outlive it.
  explicit SearchEvents(Journal& journal);
  SearchEvents(const SearchEvents&) = delete;
  SearchEvents& operator=(const SearchEvents&) = delete;

  Journal& journal() { return journal_; }
  // Waits for something to serve, at most this long.
  void wait(std::chrono::milliseconds at_most);
  // Handles one event. Throws RecordEnded at the end of the record when no search has a live runner.
  void serve();

 private:
  friend class RecordedRunner;
  void take(const Journal::Step& step);
  AttemptRunner* live() const;  // of any search: they share an event loop

  Journal& journal_;
  std::vector<RecordedRunner*> runners_;
};

// The attempt runner of one search: reports recorded attempts in order, passes the others to the live runner, and
// charges the budget for each.
class RecordedRunner : public AttemptRunner {
 public:
  // `slots`: attempts side by side. `confirms_beside`: confirmations take none of them. All other arguments must
  // outlive it.
  RecordedRunner(results::archive::Recorder& archive, SearchEvents& events, BudgetShare& budget,
                 const benchsuite::Problem& problem, size_t slots, bool confirms_beside = false);
  ~RecordedRunner() override;
  RecordedRunner(const RecordedRunner&) = delete;
  RecordedRunner& operator=(const RecordedRunner&) = delete;

  // Attempts that the record does not hold wait for this runner, which has loaded the problem and outlives this one. A
  // campaign that is replayed has none.
  void attach(AttemptRunner& live);
  // Takes back what is in flight there: it waits for the next runner.
  void detach();

  size_t free_slots() const override;
  size_t in_progress() const override;
  void prepare(const CandidatePtr& candidate, verifier::verdicts::Effort effort) override;
  void begin(const CandidatePtr& candidate, const CandidatePtr& incumbent, verifier::verdicts::Effort effort,
             std::function<void(Attempt)> done) override;
  size_t slots() const override { return slots_; }
  // Has anything happened to this search since the last call?
  bool take_change() { return std::exchange(changed_, false); }
  void wait(std::chrono::milliseconds at_most) override { events_.wait(at_most); }
  void serve() override { events_.serve(); }
  void abandon() override;
  CandidatePtr naive() const override { return naive_; }
  CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                   const sandbox::TunableBinding& binding) override;

 private:
  friend class SearchEvents;
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
  void proceed_all();
  void proceed(Started started);
  bool finish_one();
  bool slots_changed();

  results::archive::Recorder& archive_;
  SearchEvents& events_;
  Journal& journal_;
  BudgetShare& budget_;
  std::string problem_;
  AttemptRunner* live_ = nullptr;
  std::list<Started> waiting_;  // until the record reaches them, or there is a live runner
  std::list<Started> in_live_;
  std::deque<Finished> ready_;  // found among the remaining steps of the record
  size_t slots_;
  bool confirms_beside_;
  bool changed_ = true;
  size_t confirming_ = 0;  // confirmations in progress
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
