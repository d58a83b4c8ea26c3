// Searches for the best solution of one problem: attempts the proposals of the tuner and of models, and confirms wins.
// Keeps every slot of its runner busy.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "agent/search/attempt_runner.h"
#include "agent/search/budget.h"
#include "agent/search/progress.h"
#include "agent/search/tuner.h"

namespace agent::search {

// A solution that takes part in a search.
struct NamedSolution {
  sandbox::Solution solution;
  std::string name, origin;
};

struct SearchResult {
  double best = 1;           // confirmed speed-up over naive
  std::string why;           // the search ended
  bool interrupted = false;  // by Ctrl-C, before it ended
};

// A judged point of a solution.
struct JudgedPoint {
  sandbox::TunableBinding binding;
  Attempt attempt;
  std::optional<double> speed_up;  // over naive; absent when incorrect
};
// The result of a trial: solutions tuned together.
struct TrialResult {
  std::optional<JudgedPoint> probe;  // the default point, in a trial that probes
  std::optional<JudgedPoint> best;   // judged in full
  bool new_best = false;             // one of its points became the confirmed best of the problem
};

// A source of new solutions during a search.
class Proposals {
 public:
  virtual ~Proposals() = default;
  // Called repeatedly on the search's thread while budget is left: adds trials, sends requests.
  virtual void tend() = 0;
  // True if requests, in flight or future, may bring another trial.
  virtual bool may_bring_more() const = 0;
  virtual std::string why_ended() const = 0;  // empty: the tuner's reason counts
};

class ProblemSearch {
 public:
  // Every choice follows from `seed` and the order of events (results, replies, time up): after each event the search
  // starts everything that it may, and nothing in between.
  // `confirms_screened`: where the budget ends before anything is confirmed, the fastest screened points still are.
  ProblemSearch(const benchsuite::Problem& problem, AttemptRunner& runner, BudgetShare& budget, Progress& progress,
                uint64_t seed, bool confirms_screened = true);
  ~ProblemSearch();
  ProblemSearch(const ProblemSearch&) = delete;
  ProblemSearch& operator=(const ProblemSearch&) = delete;

  // Solutions to tune together. Later trials come first. `probe`: judges the first solution's default point in full
  // before anything else, and ends the trial if it is incorrect.
  struct TrialPlan {
    std::vector<NamedSolution> solutions;
    TunerSettings tuner;
    bool probe = false;
    std::function<void(const TrialResult&)> ended;
    std::function<void(size_t index, const JudgedPoint&)> judged;  // each correct point judged in full
  };
  void add(TrialPlan plan);
  size_t trials() const { return trials_.size(); }  // not ended
  size_t side_by_side() const { return runner_.free_slots() + runner_.in_progress(); }

  // From begin() to the end, for a search that has its events to itself.
  SearchResult run(Proposals* proposals = nullptr);

  // Otherwise its owner calls begin(), and then proceed() after each event until that is true. Times the naive solution
  // against itself first.
  void begin(Proposals* proposals = nullptr);
  // Starts everything that it may. True: the search has ended.
  bool proceed();
  // Nothing is under way but requests to models.
  bool awaits_replies() const { return idle_; }
  // The end of the time is an event like others, and precedes later ones. True: it came now.
  bool take_time_up();
  SearchResult result() const;

  double best_speed_up() const { return best_score_; }
  // The naive solution's time at the first timed workload, once its control has measured it.
  std::optional<double> naive_us() const { return naive_us_; }

 private:
  struct Trial {
    Trial(TrialPlan plan, uint64_t seed);
    TrialPlan plan;
    Tuner tuner;
    bool probing = false, over = false;
    std::optional<Batch> batch;
    size_t started = 0, reported = 0;  // points of the batch: started, reported
    std::deque<CandidatePtr> ahead;    // the next points, being compiled
    size_t confirmations = 0;          // due or in flight
    TrialResult result;
  };
  struct Confirmation {
    CandidatePtr candidate;
    Trial* trial;
  };
  struct Screened {
    double speed_up;
    Point point;
    Confirmation confirmation;
  };

  // Times naive against itself and warns unless it is a tie: the machine is too noisy then.
  void control();
  void controlled(const Attempt& made);
  void feed();
  Trial* next_trial();
  bool has_points(Trial& trial);
  bool begin_point(Trial& trial);
  void prepare_ahead(Trial& trial);
  void attempt(const CandidatePtr& candidate, const CandidatePtr& incumbent, verifier::verdicts::Effort effort,
               std::function<void(Attempt)> done);
  void point_judged(Trial& trial, const Point& point, const CandidatePtr& candidate, verifier::verdicts::Effort effort,
                    double against, Attempt attempt);
  // Confirms a win: it must repeat in fresh processes, then against naive, which gives the score.
  bool begin_confirmation();
  // Puts the fastest point that was screened and no more among those to confirm; false: there is none, or no need.
  bool take_screened();
  void score(const Confirmation& confirmation);
  void end_confirmation(const Confirmation& confirmation);
  static void correct(const Confirmation& confirmation, const Attempt& attempt, std::optional<double> speed_up);
  bool is_idle() const;
  void next_event();  // handles exactly one event
  void report(const Candidate& candidate, verifier::verdicts::Effort effort, const Attempt& attempt,
              std::optional<double> speed_up, bool new_best);

  const benchsuite::Problem& problem_;
  AttemptRunner& runner_;
  BudgetShare& budget_;
  Progress& progress_;
  uint64_t seed_;
  bool confirms_screened_;
  std::list<Trial> trials_;
  std::vector<std::vector<NamedSolution>> kept_;  // of ended trials: best_ refers to its solution
  std::deque<Confirmation> due_;                  // confirmations
  bool confirming_ = false;
  std::vector<Screened> screened_;  // wins over naive that no full judgement has seen
  size_t taken_ = 0;                // of them, to be confirmed without one
  CandidatePtr best_;               // naive until a faster one is confirmed
  double best_score_ = 1;           // its confirmed speed-up over naive
  std::optional<double> naive_us_;
  Proposals* proposals_ = nullptr;
  bool controlling_ = false, idle_ = false;
  std::string why_;  // not empty: nothing more starts
  std::string tuner_ended_;
};

}  // namespace agent::search
