#include "agent/problem_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/interrupt.h"
#include "agent/table.h"

namespace agent {
namespace {
using verifier::Effort;
using verifier::Outcome;
constexpr size_t kCompiledAhead = 3;  // candidates

bool won(const Attempt& attempt) {
  return verifier::is_correct(attempt.verdict) && attempt.measurement && attempt.measurement->outcome == Outcome::win;
}
}  // namespace

ProblemSearch::ProblemSearch(const benchsuite::Problem& problem, const std::vector<Entrant>& entrants,
                             Attempts& attempts, Budget& budget, Progress& progress, sandbox::CompilePool& pool)
    : problem_(problem),
      entrants_(entrants),
      attempts_(attempts),
      budget_(budget),
      progress_(progress),
      pool_(pool),
      best_(attempts.naive()) {}

void ProblemSearch::report(const Candidate& candidate, Effort effort, const Attempt& attempt,
                           std::optional<double> speed_up, bool new_best) {
  if (attempt.recalled) return;
  AttemptReport report;
  report.attempt = attempt.id;
  report.number = budget_.attempts();
  report.problem = problem_.name;
  report.solution = candidate.name;
  report.tunables = sandbox::describe(candidate.builds.binding());
  report.effort = effort;
  report.verdict = &attempt.verdict;
  report.speed_up = speed_up;
  report.reused = attempt.reused;
  report.new_best = new_best;
  report.best = best_score_;
  report.left = budget_.left();
  progress_.attempted(report);
}

std::vector<Attempt> ProblemSearch::attempt(const std::vector<CandidatePtr>& candidates, Candidate& incumbent,
                                            Effort effort, double incumbent_score) {
  std::vector<Candidate*> all;
  for (const CandidatePtr& candidate : candidates) all.push_back(candidate.get());
  std::vector<Attempt> made = attempts_.make(all, incumbent, effort);
  for (size_t i = 0; i < made.size(); ++i) {
    if (!made[i].recalled) budget_.charge_attempt();
    const bool timed = verifier::is_correct(made[i].verdict) && made[i].measurement;
    report(*candidates[i], effort, made[i],
           timed ? std::optional(made[i].measurement->speed_up.value * incumbent_score) : std::nullopt, false);
  }
  return made;
}

Attempt ProblemSearch::attempt(const CandidatePtr& candidate, Candidate& incumbent, Effort effort,
                               double incumbent_score) {
  return attempt(std::vector<CandidatePtr>{candidate}, incumbent, effort, incumbent_score).front();
}

void ProblemSearch::control() {
  const Attempt made = attempt(attempts_.naive(), *attempts_.naive(), Effort::control, 1);
  if (!verifier::is_correct(made.verdict)) {
    progress_.warned(problem_.name +
                     ": the naive solution itself is not accepted: " + verifier::sentence_for_people(made.verdict));
  } else if (made.measurement && made.measurement->outcome != Outcome::tie && !made.recalled) {
    const verifier::SpeedUp& s = made.measurement->speed_up;
    progress_.warned(
        fmt::format("{}: naive timed against itself gave {} instead of 1: this machine is noisy, small "
                    "differences mean little",
                    problem_.name, format_speed_up(s.value, s.low, s.high)));
  }
}

void ProblemSearch::confirm(const CandidatePtr& candidate) {
  Candidate& naive = *attempts_.naive();
  const bool against_naive = best_ == attempts_.naive();
  if (!against_naive && !won(attempt(candidate, *best_, Effort::confirm, best_score_))) return;
  if (budget_.left().attempts == 0) return;
  const Attempt scored = attempts_.make(*candidate, naive, Effort::confirm);
  if (!scored.recalled) budget_.charge_attempt();
  const bool better = won(scored);
  if (better) {
    best_ = candidate;
    best_score_ = scored.measurement->speed_up.value;
  }
  report(*candidate, Effort::confirm, scored,
         scored.measurement ? std::optional(scored.measurement->speed_up.value) : std::nullopt, better);
}

// Why the search must end, or nullopt when the batch is done. As many candidates are judged at a time as there are
// devices, all against the same incumbent.
std::optional<std::string> ProblemSearch::search_batch(Tuner& tuner, const Batch& batch) {
  std::deque<CandidatePtr> ahead;
  size_t begun = 0, next = 0;
  while (next < batch.points.size()) {
    if (interrupted()) return "interrupted";
    const size_t wanted = std::min(attempts_.side_by_side(), batch.points.size() - next);
    for (; begun < batch.points.size() && ahead.size() < wanted + kCompiledAhead; ++begun) {
      const Entrant& entrant = entrants_[batch.points[begun].solution];
      ahead.push_back(attempts_.add(entrant.solution, entrant.name, entrant.origin, batch.points[begun].binding));
      if (!attempts_.was_made(*ahead.back(), *best_, batch.effort)) ahead.back()->builds.start(pool_, batch.effort);
    }
    std::vector<CandidatePtr> together;
    for (; together.size() < wanted; ahead.pop_front()) {
      if (!attempts_.was_made(*ahead.front(), *best_, batch.effort)) {
        if (auto why = budget_.share_used_up(static_cast<int64_t>(together.size()))) {
          if (together.empty()) return why;
          break;
        }
      }
      together.push_back(ahead.front());
    }
    const double against = best_score_;
    const std::vector<Attempt> made = attempt(together, *best_, batch.effort, against);
    for (size_t i = 0; i < made.size(); ++i) {
      const bool timed = verifier::is_correct(made[i].verdict) && made[i].measurement;
      tuner.report(batch.points[next + i], batch.effort,
                   timed ? std::optional(made[i].measurement->speed_up.value * against) : std::nullopt);
      if (batch.effort == Effort::full && won(made[i])) confirm(together[i]);
    }
    next += made.size();
  }
  return std::nullopt;
}

SearchResult ProblemSearch::run(uint64_t seed, const TunerSettings& settings) {
  std::vector<const sandbox::Solution*> solutions;
  for (const Entrant& entrant : entrants_) solutions.push_back(&entrant.solution);
  Tuner tuner(std::move(solutions), seed, settings);
  SearchResult result;
  if (!entrants_.empty()) control();
  while (result.why.empty()) {
    const std::optional<Batch> batch = tuner.next();
    result.why = batch ? search_batch(tuner, *batch).value_or("") : tuner.why_stopped();
  }
  result.best = best_score_;
  result.interrupted = interrupted();
  return result;
}

}  // namespace agent
