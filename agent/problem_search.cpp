#include "agent/problem_search.h"

#include <fmt/format.h>

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

Attempt ProblemSearch::attempt(Candidate& candidate, Candidate& incumbent, Effort effort, double incumbent_score) {
  Attempt made = attempts_.make(candidate, incumbent, effort);
  if (!made.recalled) budget_.charge_attempt();
  const bool timed = verifier::is_correct(made.verdict) && made.measurement;
  report(candidate, effort, made,
         timed ? std::optional(made.measurement->speed_up.value * incumbent_score) : std::nullopt, false);
  return made;
}

void ProblemSearch::control() {
  Candidate& naive = *attempts_.naive();
  const Attempt made = attempt(naive, naive, Effort::control, 1);
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
  if (!against_naive && !won(attempt(*candidate, *best_, Effort::confirm, best_score_))) return;
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

// Why the search must end, or nullopt when the batch is done.
std::optional<std::string> ProblemSearch::search_batch(Tuner& tuner, const Batch& batch) {
  std::deque<CandidatePtr> ahead;
  size_t next = 0;
  for (const Point& point : batch.points) {
    for (; next < batch.points.size() && ahead.size() <= kCompiledAhead; ++next) {
      const Entrant& entrant = entrants_[batch.points[next].solution];
      ahead.push_back(attempts_.add(entrant.solution, entrant.name, entrant.origin, batch.points[next].binding));
      if (!attempts_.was_made(*ahead.back(), *best_, batch.effort)) ahead.back()->builds.start(pool_, batch.effort);
    }
    const CandidatePtr candidate = std::move(ahead.front());
    ahead.pop_front();
    if (interrupted()) return "interrupted";
    if (!attempts_.was_made(*candidate, *best_, batch.effort)) {
      if (auto why = budget_.share_used_up()) return why;
    }
    const double against = best_score_;
    const Attempt made = attempt(*candidate, *best_, batch.effort, against);
    const bool timed = verifier::is_correct(made.verdict) && made.measurement;
    tuner.report(point, batch.effort, timed ? std::optional(made.measurement->speed_up.value * against) : std::nullopt);
    if (batch.effort == Effort::full && won(made)) confirm(candidate);
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
