#include "agent/search/problem_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/search/interrupt.h"

namespace agent::search {
namespace {
using verifier::statistics::Outcome;
using verifier::verdicts::Effort;
constexpr size_t kCompiledAhead = 3;  // candidates, beyond those that can be judged at once
constexpr size_t kMostTaken = 3;      // screened points that are confirmed although the budget has ended
constexpr std::chrono::milliseconds kTick(100);

bool won(const Attempt& attempt) {
  return verifier::verdicts::is_correct(attempt.verdict) && attempt.measurement &&
         attempt.measurement->outcome == Outcome::win;
}

std::optional<double> speed_up_of(const Attempt& attempt, double against) {
  if (!verifier::verdicts::is_correct(attempt.verdict) || !attempt.measurement) return std::nullopt;
  return attempt.measurement->speed_up.value * against;
}

std::vector<const sandbox::Solution*> solutions_of(const std::vector<NamedSolution>& entries) {
  std::vector<const sandbox::Solution*> solutions;
  for (const NamedSolution& named : entries) solutions.push_back(&named.solution);
  return solutions;
}
}  // namespace

ProblemSearch::Trial::Trial(TrialPlan of, uint64_t seed)
    : plan(std::move(of)), tuner(solutions_of(plan.solutions), seed, plan.tuner), probing(plan.probe) {}

ProblemSearch::ProblemSearch(const benchsuite::Problem& problem, AttemptRunner& runner, BudgetShare& budget,
                             Progress& progress, uint64_t seed, bool confirms_screened)
    : problem_(problem),
      runner_(runner),
      budget_(budget),
      progress_(progress),
      seed_(seed),
      confirms_screened_(confirms_screened),
      best_(runner.naive()) {}

ProblemSearch::~ProblemSearch() { runner_.abandon(); }

void ProblemSearch::add(TrialPlan plan) { trials_.emplace_front(std::move(plan), seed_++); }

void ProblemSearch::report(const Candidate& candidate, Effort effort, const Attempt& attempt,
                           std::optional<double> speed_up, bool new_best) {
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

void ProblemSearch::attempt(const CandidatePtr& candidate, const CandidatePtr& incumbent, Effort effort,
                            std::function<void(Attempt)> done) {
  budget_.attempt_begun();
  runner_.begin(candidate, incumbent, effort, [this, done = std::move(done)](Attempt attempt) {
    budget_.attempt_over();
    done(std::move(attempt));
  });
}

void ProblemSearch::control() {
  controlling_ = true;
  attempt(runner_.naive(), runner_.naive(), Effort::control, [this](const Attempt& made) {
    controlling_ = false;
    controlled(made);
  });
}

void ProblemSearch::controlled(const Attempt& made) {
  if (made.measurement && !made.measurement->workloads.empty()) {
    naive_us_ = made.measurement->workloads.front().candidate_us;
  }
  report(*runner_.naive(), Effort::control, made, speed_up_of(made, 1), false);
  if (!verifier::verdicts::is_correct(made.verdict)) {
    progress_.warned(problem_.name + ": the naive solution itself is not accepted: " +
                     verifier::verdicts::sentence_for_people(made.verdict));
  } else if (made.measurement && made.measurement->outcome != Outcome::tie) {
    const verifier::statistics::SpeedUp& s = made.measurement->speed_up;
    progress_.warned(
        fmt::format("{}: naive timed against itself gave {:.2f}x [{:.2f}, {:.2f}] instead of 1: this machine is "
                    "noisy, so small differences mean little",
                    problem_.name, s.value, s.low, s.high));
  }
}

bool ProblemSearch::begin_confirmation() {
  if (confirming_ || due_.empty()) return false;
  if (budget_.all_attempts_used_up()) {
    for (const Confirmation& confirmation : due_) --confirmation.trial->confirmations;
    due_.clear();
    return false;
  }
  const Confirmation confirmation = due_.front();
  due_.pop_front();
  confirming_ = true;
  if (best_ == runner_.naive()) {
    score(confirmation);
    return true;
  }
  attempt(confirmation.candidate, best_, Effort::confirm, [this, confirmation, against = best_score_](Attempt attempt) {
    report(*confirmation.candidate, Effort::confirm, attempt, speed_up_of(attempt, against), false);
    correct(confirmation, attempt, speed_up_of(attempt, against));
    if (!won(attempt) || budget_.all_attempts_used_up()) return end_confirmation(confirmation);
    score(confirmation);
  });
  return true;
}

bool ProblemSearch::take_screened() {
  if (!confirms_screened_ || best_ != runner_.naive() || runner_.in_progress() > 0 || taken_ == kMostTaken)
    return false;
  if (budget_.all_attempts_used_up()) return false;
  const auto fastest = std::ranges::max_element(screened_, {}, &Screened::speed_up);
  if (fastest == screened_.end()) return false;
  due_.push_back(fastest->confirmation);
  ++fastest->confirmation.trial->confirmations;
  ++taken_;
  screened_.erase(fastest);
  return true;
}

// The confirmation's measurement counts, not the one that led to it: the largest of many noisy values is too large. The
// counters stay, since nobody profiles a confirmation.
void ProblemSearch::correct(const Confirmation& confirmation, const Attempt& attempt, std::optional<double> speed_up) {
  std::optional<JudgedPoint>& best = confirmation.trial->result.best;
  const sandbox::TunableBinding& binding = confirmation.candidate->builds.binding();
  if (!best || best->binding != binding) return;
  if (!speed_up) {
    best.reset();
  } else {
    JudgedPoint confirmed{binding, attempt, speed_up};
    if (confirmed.attempt.measurement && best->attempt.measurement) {
      confirmed.attempt.measurement->counters = std::move(best->attempt.measurement->counters);
    }
    best = std::move(confirmed);
  }
}

void ProblemSearch::score(const Confirmation& confirmation) {
  attempt(confirmation.candidate, runner_.naive(), Effort::confirm, [this, confirmation](const Attempt& scored) {
    const bool better = won(scored);
    if (better) {
      best_ = confirmation.candidate;
      best_score_ = scored.measurement->speed_up.value;
      confirmation.trial->result.new_best = true;
    }
    correct(confirmation, scored, speed_up_of(scored, 1));
    report(*confirmation.candidate, Effort::confirm, scored, speed_up_of(scored, 1), better);
    end_confirmation(confirmation);
  });
}

void ProblemSearch::end_confirmation(const Confirmation& confirmation) {
  confirming_ = false;
  --confirmation.trial->confirmations;
}

// True if the trial has a point that can start now.
bool ProblemSearch::has_points(Trial& trial) {
  if (trial.over) return false;
  if (trial.batch && trial.started < trial.batch->points.size()) return true;
  if (trial.batch && trial.reported < trial.started) return false;
  trial.started = trial.reported = 0;
  trial.ahead.clear();
  if (trial.probing) {
    trial.batch = Batch{Effort::full, {{0, sandbox::default_binding(trial.plan.solutions.at(0).solution)}}};
  } else {
    trial.batch = trial.tuner.next();
  }
  trial.over = !trial.batch;
  return !trial.over;
}

ProblemSearch::Trial* ProblemSearch::next_trial() {
  for (auto trial = trials_.begin(); trial != trials_.end();) {
    if (has_points(*trial)) return &*trial;
    const bool ended = trial->over && trial->confirmations == 0;
    if (!ended) {
      ++trial;
      continue;
    }
    tuner_ended_ = trial->tuner.why_stopped();
    const auto on_ended = std::move(trial->plan.ended);
    const TrialResult result = std::move(trial->result);
    std::erase_if(screened_, [&](const Screened& one) { return one.confirmation.trial == &*trial; });
    if (result.new_best) kept_.push_back(std::move(trial->plan.solutions));
    trial = trials_.erase(trial);
    if (on_ended) on_ended(result);
  }
  return nullptr;
}

void ProblemSearch::prepare_ahead(Trial& trial) {
  const std::vector<Point>& points = trial.batch->points;
  const size_t wanted = runner_.free_slots() + kCompiledAhead;
  while (trial.ahead.size() < wanted && trial.started + trial.ahead.size() < points.size()) {
    const Point& point = points[trial.started + trial.ahead.size()];
    const NamedSolution& named = trial.plan.solutions[point.solution];
    trial.ahead.push_back(runner_.add(named.solution, named.name, named.origin, point.binding));
    runner_.prepare(trial.ahead.back(), trial.batch->effort);
  }
}

// Returns false if the budget does not allow it.
bool ProblemSearch::begin_point(Trial& trial) {
  prepare_ahead(trial);
  const CandidatePtr candidate = trial.ahead.front();
  const Effort effort = trial.batch->effort;
  if (auto why = budget_.attempts_used_up()) {
    why_ = *why;
    return false;
  }
  const Point point = trial.batch->points[trial.started++];
  trial.ahead.pop_front();
  attempt(candidate, best_, effort, [this, &trial, point, candidate, effort, against = best_score_](Attempt attempt) {
    point_judged(trial, point, candidate, effort, against, std::move(attempt));
  });
  return true;
}

void ProblemSearch::point_judged(Trial& trial, const Point& point, const CandidatePtr& candidate, Effort effort,
                                 double against, Attempt attempt) {
  const std::optional<double> speed_up = speed_up_of(attempt, against);
  report(*candidate, effort, attempt, speed_up, false);
  ++trial.reported;
  if (effort == Effort::full && won(attempt)) {
    due_.push_back({candidate, &trial});
    ++trial.confirmations;
  }
  if (effort == Effort::screen && won(attempt)) {
    screened_.push_back({*speed_up, point, {candidate, &trial}});
  } else if (effort == Effort::full) {
    std::erase_if(screened_,
                  [&](const Screened& one) { return one.confirmation.trial == &trial && one.point == point; });
  }
  TrialResult& result = trial.result;
  if (std::exchange(trial.probing, false)) {
    trial.over = !verifier::verdicts::is_correct(attempt.verdict);
    result.probe = JudgedPoint{point.binding, attempt, speed_up};
  } else {
    trial.tuner.report(point, effort, speed_up);
  }
  if (effort == Effort::full && speed_up && trial.plan.judged) {
    trial.plan.judged(point.solution, {point.binding, attempt, speed_up});
  }
  if (effort == Effort::full && speed_up && (!result.best || *speed_up > result.best->speed_up)) {
    result.best = JudgedPoint{point.binding, std::move(attempt), speed_up};
  }
}

// A full judgement is against the best, which is about to change while a win is being confirmed: it waits, unless there
// are devices to keep busy.
void ProblemSearch::feed() {
  while (runner_.free_slots() > 0) {
    if (begin_confirmation()) continue;
    if (why_.empty()) {
      Trial* trial = next_trial();
      const bool waits =
          trial != nullptr && confirming_ && runner_.slots() == 1 && trial->batch->effort == Effort::full;
      if (trial == nullptr || waits) return;
      if (begin_point(*trial)) continue;
    }
    if (!take_screened()) return;
  }
}

bool ProblemSearch::is_idle() const {
  return runner_.in_progress() == 0 && due_.empty() && (trials_.empty() || !why_.empty());
}

bool ProblemSearch::take_time_up() {
  if (!why_.empty()) return false;
  const auto why = budget_.time_used_up();
  if (why) why_ = *why;
  return why.has_value();
}

void ProblemSearch::next_event() {
  const double begin = budget_.now();
  runner_.wait(kTick);
  if (idle_) budget_.waited(budget_.now() - begin);
  if (!take_time_up()) runner_.serve();
}

void ProblemSearch::begin(Proposals* proposals) {
  proposals_ = proposals;
  const auto has_solutions = [](const Trial& trial) { return !trial.plan.solutions.empty(); };
  if (proposals != nullptr || std::any_of(trials_.begin(), trials_.end(), has_solutions)) control();
}

bool ProblemSearch::proceed() {
  if (!controlling_) {
    feed();
    if (proposals_ != nullptr && why_.empty()) proposals_->tend();
  }
  idle_ = is_idle();
  if (!idle_) return false;
  if (proposals_ == nullptr || !why_.empty() || !proposals_->may_bring_more()) return true;
  const auto why = budget_.attempts_used_up();
  if (why) why_ = *why;
  return why.has_value();
}

SearchResult ProblemSearch::result() const {
  if (interrupted()) return {best_score_, "interrupted", true};
  if (!why_.empty()) return {best_score_, why_, false};
  const std::string why = proposals_ != nullptr ? proposals_->why_ended() : "";
  return {best_score_, why.empty() ? tuner_ended_ : why, false};
}

SearchResult ProblemSearch::run(Proposals* proposals) {
  begin(proposals);
  while (!interrupted() && !proceed()) next_event();
  return result();
}

}  // namespace agent::search
