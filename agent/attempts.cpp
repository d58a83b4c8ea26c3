#include "agent/attempts.h"

#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/artefact.h"
#include "verifier/bound.h"

namespace agent {
namespace {
using verifier::Effort;
}  // namespace

Attempts::Attempts(results::Archive& archive, Workshop& workshop, std::optional<int64_t> campaign,
                   std::optional<verifier::Calibration> calibration)
    : archive_(archive),
      workshop_(workshop),
      campaign_(campaign),
      calibration_(std::move(calibration)),
      environment_(archive.add_environment(workshop.environment())) {
  if (!campaign) return;
  const std::vector<int64_t> before = archive.attempts_of_campaign(*campaign);
  if (!before.empty()) last_before_ = before.back();
}

void Attempts::use_problem(const benchsuite::Problem& problem) {
  workshop_.judges().use_problem(problem, workshop_.pool());
  problem_ = problem;
  problem_id_ = archive_.add_problem(problem, benchsuite::content_hash(problem));
  naive_solution_ = sandbox::load_solution(problem.naive_file());
  naive_ = add(naive_solution_, "naive", "naive", sandbox::default_binding(naive_solution_));
}

CandidatePtr Attempts::add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                           const sandbox::TunableBinding& binding) {
  const int64_t id = archive_.add_candidate(archive_.add_solution({&solution, name, origin, {}}), binding);
  return std::make_shared<Candidate>(Candidate{name, id, verifier::Builds(solution, binding)});
}

bool Attempts::was_made(const Candidate& candidate, const Candidate& incumbent, Effort effort) const {
  if (last_before_ == 0) return false;
  const auto found = archive_.find_attempt(campaign_.value(), candidate.id, effort, incumbent.id);
  return found && *found <= last_before_;
}

std::optional<Attempt> Attempts::recall(const Candidate& candidate, const Candidate& incumbent, Effort effort) const {
  if (!was_made(candidate, incumbent, effort)) return std::nullopt;
  Attempt attempt = earlier(archive_.find_attempt(campaign_.value(), candidate.id, effort, incumbent.id).value());
  attempt.recalled = true;
  return attempt;
}

Attempt Attempts::earlier(int64_t id) const {
  results::RecordedAttempt record = archive_.attempt(id);
  if (record.reused_from) {
    Attempt attempt = earlier(*record.reused_from);
    attempt.id = id;
    attempt.reused = true;
    return attempt;
  }
  Attempt attempt;
  attempt.id = id;
  attempt.verdict = std::move(record.verdict);
  attempt.measurement = std::move(record.measurement);
  return attempt;
}

double Attempts::seconds_since_last() {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
}

// Null for the naive solution, which the judges have themselves.
const verifier::Builds* Attempts::built(Candidate& candidate, Effort effort) {
  if (&candidate == naive_.get()) return nullptr;
  if (candidate.builds.wait(workshop_.pool(), effort) != nullptr) {
    throw core::SystemError("what was compiled before does not compile any more");
  }
  return &candidate.builds;
}

void Attempts::reuse_earlier(Pending& pending, const Candidate& incumbent) {
  results::NewAttempt& record = pending.record;
  const bool reusable = campaign_ && (record.effort == Effort::screen || record.effort == Effort::full);
  if (reusable) record.reused_from = archive_.find_artefact(*campaign_, record.artefact, record.effort, incumbent.id);
  if (!record.reused_from) return;
  const double compile_ms = pending.attempt.compile_ms;
  pending.attempt = earlier(*record.reused_from);
  pending.attempt.reused = true;
  pending.attempt.compile_ms = compile_ms;
  record.judgement.verdict = pending.attempt.verdict;
}

Attempts::Pending Attempts::prepare(Candidate& candidate, Candidate& incumbent, Effort effort) {
  Pending pending{&candidate, {}, {}};
  if (auto recalled = recall(candidate, incumbent, effort)) {
    pending.attempt = std::move(*recalled);
    return pending;
  }
  results::NewAttempt& record = pending.record;
  record.campaign = campaign_;
  record.problem = problem_id_;
  record.environment = environment_;
  record.candidate = candidate.id;
  record.device = workshop_.device();
  record.effort = effort;
  if (&candidate == naive_.get()) {
    record.artefact = naive_solution_.hash();
    pending.judged = true;
    return pending;
  }
  if (const sandbox::Rejected* rejected = candidate.builds.wait(workshop_.pool(), effort)) {
    record.compile_log = rejected->log;
    record.judgement.verdict = verifier::CompileFailed{rejected->reason, rejected->message, rejected->line};
    return pending;
  }
  const verifier::Builds& builds = candidate.builds;
  record.compile_log = builds.fast().log;
  record.compile_ms = pending.attempt.compile_ms = builds.compile_ms();
  record.artefact = sandbox::artefact_hash(builds.solution(), builds.binding(), {builds.fast().binary_hash});
  reuse_earlier(pending, incumbent);
  pending.judged = !pending.attempt.reused;
  return pending;
}

void Attempts::judge(std::vector<Pending>& all, Candidate& incumbent, Effort effort) {
  std::vector<JudgeTask> tasks;
  for (Pending& pending : all) {
    if (pending.judged) tasks.push_back({built(*pending.candidate, effort), built(incumbent, Effort::screen), effort});
  }
  if (tasks.empty()) return;
  auto judgements = workshop_.judges().judge(tasks, [&](const std::string& what) {
    archive_.add_event(campaign_, "our_failure", {{"what", what}});
    if (trouble_) trouble_(what + "; trying again");
  });
  size_t next = 0;
  for (Pending& pending : all) {
    if (!pending.judged) continue;
    verifier::Judgement& judgement = pending.record.judgement = std::move(judgements[next++]);
    if (calibration_) {
      verifier::hold_against_floor(judgement, *problem_, *calibration_, {!workshop_.hot(), false});
    }
    const bool won = judgement.measurement && judgement.measurement->outcome == verifier::Outcome::win;
    if (effort == Effort::confirm && won && &incumbent == naive_.get()) examine(*pending.candidate, judgement);
  }
}

// A win that is about to be a score.
void Attempts::examine(const Candidate& candidate, verifier::Judgement& judgement) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    const bool watched = workshop_.has_sanitizer();
    if (auto found = workshop_.examine(candidate.builds, *problem_)) {
      judgement.verdict = std::move(*found);
      judgement.measurement.reset();
    }
    if (watched) {
      judgement.stages.sanitizer_ms =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    }
  } catch (const core::SystemError& error) {
    archive_.add_event(campaign_, "our_failure", {{"what", error.what()}});
    if (trouble_) trouble_(std::string(error.what()) + "; the win counts without it");
  }
}

Attempt Attempts::record(Pending pending, Candidate& incumbent) {
  if (pending.attempt.recalled) return std::move(pending.attempt);
  results::NewAttempt& record = pending.record;
  if (record.judgement.measurement) record.against = incumbent.id;
  record.seconds = campaign_ ? seconds_since_last() : 0;
  Attempt attempt = std::move(pending.attempt);
  attempt.id = archive_.add_attempt(record);
  attempt.verdict = std::move(record.judgement.verdict);
  attempt.stages = record.judgement.stages;
  if (!attempt.reused) attempt.measurement = std::move(record.judgement.measurement);
  return attempt;
}

std::vector<Attempt> Attempts::make(const std::vector<Candidate*>& candidates, Candidate& incumbent, Effort effort) {
  std::vector<Pending> pending;
  for (Candidate* candidate : candidates) pending.push_back(prepare(*candidate, incumbent, effort));
  judge(pending, incumbent, effort);
  std::vector<Attempt> attempts;
  for (Pending& one : pending) attempts.push_back(record(std::move(one), incumbent));
  return attempts;
}

Attempt Attempts::make(Candidate& candidate, Candidate& incumbent, Effort effort) {
  return make(std::vector<Candidate*>{&candidate}, incumbent, effort).front();
}

}  // namespace agent
