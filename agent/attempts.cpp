#include "agent/attempts.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/artefact.h"
#include "verifier/verdicts/bound.h"

namespace agent {
namespace {
using verifier::verdicts::Effort;
}  // namespace

CandidatePtr add_candidate(results::archive::Recorder& archive, const sandbox::Solution& solution,
                           const std::string& name, const std::string& origin, const sandbox::TunableBinding& binding) {
  const int64_t id = archive.add_candidate(archive.add_solution({&solution, name, origin, {}}), binding);
  return std::make_shared<Candidate>(Candidate{name, id, verifier::judging::Builds(solution, binding)});
}

Attempt recorded_attempt(const results::archive::Reader& archive, int64_t id) {
  results::archive::RecordedAttempt record = archive.attempt(id);
  Attempt attempt;
  attempt.id = id;
  attempt.compile_log = std::move(record.compile_log);
  attempt.registers = record.registers;
  attempt.shared_bytes = record.shared_bytes;
  attempt.spill_bytes = record.spill_bytes;
  attempt.reused = record.reused_from.has_value();
  while (record.reused_from) record = archive.attempt(*record.reused_from);
  attempt.verdict = std::move(record.verdict);
  attempt.measurement = std::move(record.measurement);
  return attempt;
}

Attempts::Attempts(results::archive::Recorder& archive, Workshop& workshop, std::optional<int64_t> campaign,
                   std::optional<verifier::verdicts::Calibration> calibration)
    : archive_(archive),
      workshop_(workshop),
      campaign_(campaign),
      calibration_(std::move(calibration)),
      environment_(archive.add_environment(workshop.environment())) {
  workshop_.pool().on_compiled([this] { post([this] { look_at_builds(); }); });
}

Attempts::~Attempts() {
  workshop_.pool().on_compiled({});
  abandon();
}

// What threads have to say to this one.
void Attempts::post(std::function<void()> message) {
  workshop_.mailbox().post([message = std::move(message), here = std::weak_ptr<bool>(here_)] {
    if (!here.expired()) message();
  });
}

// Lost when the job has been abandoned meanwhile.
void Attempts::post(int64_t number, std::function<void(Job&)> message) {
  post([this, message = std::move(message), number] {
    const auto found = jobs_.find(number);
    if (found != jobs_.end()) message(found->second);
  });
}

void Attempts::abandon() {
  workshop_.judges().drain();
  jobs_.clear();
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
  return add_candidate(archive_, solution, name, origin, binding);
}

double Attempts::seconds_since_last() {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
}

void Attempts::note_trouble(const std::string& what) {
  archive_.add_event(campaign_, "our_failure", {{"what", what}});
  if (trouble_) trouble_(what);
}

void Attempts::reuse_earlier(Job& job) {
  results::archive::NewAttempt& record = job.record;
  const bool reusable = campaign_ && (record.effort == Effort::screen || record.effort == Effort::full);
  if (reusable) {
    record.reused_from = archive_.find_artefact(*campaign_, record.artefact, record.effort, job.incumbent->id);
  }
  if (!record.reused_from) return;
  const Attempt first = recorded_attempt(archive_, *record.reused_from);
  job.attempt.verdict = first.verdict;
  job.attempt.measurement = first.measurement;
  job.attempt.reused = true;
  record.judgement.verdict = job.attempt.verdict;
}

size_t Attempts::free_places() const {
  const size_t places = workshop_.judges().size();
  return places > jobs_.size() ? places - jobs_.size() : 0;
}

void Attempts::prepare(const CandidatePtr& candidate, Effort effort) {
  if (candidate != naive_) candidate->builds.start(workshop_.pool(), effort);
}

void Attempts::begin(const CandidatePtr& candidate, const CandidatePtr& incumbent, Effort effort,
                     std::function<void(Attempt)> done) {
  const int64_t number = ++begun_;
  Job& job = jobs_[number] = {number, candidate, incumbent, std::move(done), {}, {}, false};
  results::archive::NewAttempt& record = job.record;
  record.campaign = campaign_;
  record.problem = problem_id_;
  record.environment = environment_;
  record.candidate = candidate->id;
  record.device = workshop_.device();
  record.effort = effort;
  if (candidate == naive_) {
    record.artefact = naive_solution_.hash();
    return submit(job);
  }
  job.compiling = true;
  prepare(candidate, effort);
  prepare(incumbent, Effort::screen);  // as a rule it is there
  post([this] { look_at_builds(); });
}

void Attempts::look_at_builds() {
  sandbox::CompilePool& pool = workshop_.pool();
  const auto ready = [&](const CandidatePtr& candidate, Effort effort) {
    return candidate == naive_ || candidate->builds.ready(pool, effort);
  };
  const auto is_due = [&](const auto& numbered) {
    const Job& job = numbered.second;
    return job.compiling && ready(job.candidate, job.record.effort) && ready(job.incumbent, Effort::screen);
  };
  const auto due = std::find_if(jobs_.begin(), jobs_.end(), is_due);
  if (due == jobs_.end()) return;
  post([this] { look_at_builds(); });  // one at a time: it may be told at once
  due->second.compiling = false;
  compiled(due->second);
}

void Attempts::compiled(Job& job) {
  results::archive::NewAttempt& record = job.record;
  verifier::judging::Builds& builds = job.candidate->builds;
  if (const sandbox::Rejected* rejected = builds.wait(workshop_.pool(), record.effort)) {
    record.compile_log = job.attempt.compile_log = rejected->log;
    record.judgement.verdict = verifier::verdicts::CompileFailed{rejected->reason, rejected->message, rejected->line};
    return finish(job);
  }
  const sandbox::Built& fast = builds.fast();
  record.compile_log = job.attempt.compile_log = fast.log;
  record.registers = job.attempt.registers = fast.registers;
  record.shared_bytes = job.attempt.shared_bytes = fast.shared_bytes;
  record.spill_bytes = job.attempt.spill_bytes = fast.spill_bytes;
  record.compile_ms = job.attempt.compile_ms = builds.compile_ms();
  record.artefact = sandbox::artefact_hash(builds.solution(), builds.binding(), {fast.binary_hash});
  reuse_earlier(job);
  if (job.attempt.reused) return finish(job);
  submit(job);
}

void Attempts::submit(Job& job) {
  const Effort effort = job.record.effort;
  // Null for the naive solution, which the judges have themselves.
  const auto built = [&](const CandidatePtr& candidate, Effort needed) -> const verifier::judging::Builds* {
    if (candidate == naive_) return nullptr;
    if (candidate->builds.wait(workshop_.pool(), needed) != nullptr) {
      throw core::SystemError("what was compiled before does not compile any more");
    }
    return &candidate->builds;
  };
  JudgeTask task{built(job.candidate, effort), built(job.incumbent, Effort::screen), effort, {}};
  const bool scores = effort == Effort::confirm && job.incumbent == naive_ && job.candidate != naive_;
  task.afterwards = [this, scores, effort, candidate = job.candidate](verifier::verdicts::Judgement& judgement) {
    if (calibration_) {
      verifier::verdicts::hold_against_floor(judgement, *problem_, *calibration_, {!workshop_.hot(), false});
    }
    const bool won = judgement.measurement && judgement.measurement->outcome == verifier::statistics::Outcome::win;
    if (scores && won) examine(*candidate, judgement);
    if (looks_closer_ && candidate != naive_) place_fault(*candidate, judgement);
    if (looks_closer_ && won && effort == Effort::full) add_counters(*candidate, judgement);
  };
  workshop_.judges().submit(std::move(task), [this, number = job.number](JudgeResult result) {
    post(number, [this, result = std::move(result)](Job& here) { judged(here, result); });
  });
}

// A win that is about to be a score. On the judge's thread.
void Attempts::examine(const Candidate& candidate, verifier::verdicts::Judgement& judgement) {
  if (!workshop_.has_sanitizer()) return;
  const auto begin = std::chrono::steady_clock::now();
  try {
    if (auto found = workshop_.examine(candidate.builds, *problem_)) {
      judgement.verdict = std::move(*found);
      judgement.measurement.reset();
    }
  } catch (const core::SystemError& error) {
    throw core::SystemError(std::string(error.what()) + "; the win counts without it");
  }
  judgement.stages.sanitizer_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// What a GPU says of a fault is which launch failed, and little more. The verdict stands whatever is found.
void Attempts::place_fault(const Candidate& candidate, verifier::verdicts::Judgement& judgement) {
  auto* faulted = std::get_if<verifier::verdicts::Faulted>(&judgement.verdict);
  if (faulted == nullptr || faulted->fault.thread || !workshop_.has_sanitizer()) return;
  const auto found = workshop_.examine(candidate.builds, *problem_);
  const auto* placed = found ? std::get_if<verifier::verdicts::Faulted>(&*found) : nullptr;
  if (placed != nullptr) faulted->fault = placed->fault;
}

void Attempts::add_counters(const Candidate& candidate, verifier::verdicts::Judgement& judgement) {
  if (judgement.measurement) judgement.measurement->counters = workshop_.profile(candidate.builds, *problem_);
}

void Attempts::judged(Job& job, const JudgeResult& result) {
  for (const std::string& what : result.trouble) note_trouble(what);
  if (const auto* failure = std::get_if<std::exception_ptr>(&result.outcome)) std::rethrow_exception(*failure);
  job.record.judgement = std::get<verifier::verdicts::Judgement>(result.outcome);
  finish(job);
}

// Records it and tells, at once, so that the archive has the order. The job is gone then.
void Attempts::finish(Job& job) {
  Attempt attempt = std::move(job.attempt);
  results::archive::NewAttempt& record = job.record;
  if (record.judgement.measurement) record.against = job.incumbent->id;
  record.seconds = campaign_ ? seconds_since_last() : 0;
  attempt.id = archive_.add_attempt(record);
  attempt.verdict = std::move(record.judgement.verdict);
  attempt.stages = record.judgement.stages;
  if (!attempt.reused) attempt.measurement = std::move(record.judgement.measurement);
  const std::function<void(Attempt)> done = std::move(job.done);
  jobs_.erase(job.number);
  done(std::move(attempt));
}

Attempt Attempts::make(const CandidatePtr& candidate, const CandidatePtr& incumbent, Effort effort) {
  std::optional<Attempt> made;
  begin(candidate, incumbent, effort, [&](Attempt attempt) { made = std::move(attempt); });
  while (!made) {
    wait(std::chrono::seconds(1));
    serve();
  }
  return std::move(*made);
}

}  // namespace agent
