// The search for the best solution of one problem: the tuner proposes, attempts are made, wins are confirmed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "agent/attempts.h"
#include "agent/budget.h"
#include "agent/progress.h"
#include "agent/tuner.h"

namespace agent {

// A solution that takes part in a search.
struct Entrant {
  sandbox::Solution solution;
  std::string name, origin;
};

struct SearchResult {
  double best = 1;           // confirmed speed-up over naive
  std::string why;           // it ended
  bool interrupted = false;  // by Ctrl-C, before it ended
};

class ProblemSearch {
 public:
  ProblemSearch(const benchsuite::Problem& problem, const std::vector<Entrant>& entrants, Attempts& attempts,
                Budget& budget, Progress& progress, sandbox::CompilePool& pool);

  // Every choice follows from `seed`, the settings and the results, so that an interrupted search can be recalled.
  SearchResult run(uint64_t seed, const TunerSettings& settings);

 private:
  // The same candidate on both sides must be a tie: otherwise this machine cannot be timed on, which is reported.
  void control();
  std::optional<std::string> search_batch(Tuner& tuner, const Batch& batch);
  std::vector<Attempt> attempt(const std::vector<CandidatePtr>& candidates, Candidate& incumbent,
                               verifier::Effort effort, double incumbent_score);
  Attempt attempt(const CandidatePtr& candidate, Candidate& incumbent, verifier::Effort effort, double incumbent_score);
  // A win counts once it is won again in fresh processes; against naive, too, which is the score.
  void confirm(const CandidatePtr& candidate);
  void report(const Candidate& candidate, verifier::Effort effort, const Attempt& attempt,
              std::optional<double> speed_up, bool new_best);

  const benchsuite::Problem& problem_;
  const std::vector<Entrant>& entrants_;
  Attempts& attempts_;
  Budget& budget_;
  Progress& progress_;
  sandbox::CompilePool& pool_;
  CandidatePtr best_;      // naive until something is confirmed to be faster
  double best_score_ = 1;  // its confirmed speed-up over naive
};

}  // namespace agent
