#include "agent/campaign/live_runner.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/artefact.h"
#include "sandbox/naive_solution.h"
#include "verifier/devices/cuda/sanitizers.h"
#include "verifier/verdicts/bound.h"

namespace agent::campaign {
namespace {
using verifier::verdicts::Effort;

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

bool is_win(const verifier::verdicts::Judgement& judgement) {
  return judgement.measurement && judgement.measurement->outcome == verifier::statistics::Outcome::win;
}
}  // namespace

LiveRunner::LiveRunner(results::archive::Recorder& archive, DeviceSession& session, std::optional<int64_t> campaign,
                       std::optional<verifier::verdicts::Calibration> calibration)
    : archive_(archive),
      session_(session),
      campaign_(campaign),
      calibration_(std::move(calibration)),
      environment_(archive.add_environment(session.environment())) {
  session_.pool().on_compiled([this] { post([this] { look_at_builds(); }); });
}

LiveRunner::~LiveRunner() {
  session_.pool().on_compiled({});
  abandon();
}

// Posts a message from another thread to the runner's.
void LiveRunner::post(std::function<void()> message) {
  session_.event_loop().post([message = std::move(message), here = std::weak_ptr<bool>(here_)] {
    if (!here.expired()) message();
  });
}

// Dropped when the job has been abandoned.
void LiveRunner::post(int64_t number, std::function<void(Job&)> message) {
  post([this, message = std::move(message), number] {
    const auto found = jobs_.find(number);
    if (found != jobs_.end()) message(found->second);
  });
}

void LiveRunner::abandon() {
  abandon_judging();
  jobs_.clear();
}

void LiveRunner::set_problem(const benchsuite::Problem& problem) {
  problem_ = problem;
  problem_id_ = archive_.add_problem(problem, benchsuite::content_hash(problem));
  naive_solution_ = sandbox::naive_solution(problem);
  naive_ = add(naive_solution_, "naive", "naive", sandbox::default_binding(naive_solution_));
}

void LiveRunner::use_problem(const benchsuite::Problem& problem) {
  session_.judges().use_problem(problem, session_.pool());
  set_problem(problem);
}

void LiveRunner::begin_problem(const benchsuite::Problem& problem) {
  if (loading_.valid()) loading_.wait();
  set_problem(problem);
  loading_ = std::async(std::launch::async, [this, problem] {
    std::exception_ptr failure;
    try {
      session_.judges().use_problem(problem, session_.pool());
    } catch (...) {
      failure = std::current_exception();
    }
    post([this, failure] { loaded(failure); });
  });
}

void LiveRunner::loaded(const std::exception_ptr& failure) {
  loading_.get();
  if (failure != nullptr) std::rethrow_exception(failure);
  for (const int64_t number : std::exchange(loaded_later_, {})) {
    if (const auto found = jobs_.find(number); found != jobs_.end()) submit(found->second);
  }
}

search::CandidatePtr LiveRunner::add(const sandbox::Solution& solution, const std::string& name,
                                     const std::string& origin, const sandbox::TunableBinding& binding) {
  return search::add_candidate(archive_, solution, name, origin, binding);
}

double LiveRunner::seconds_since_last() {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - std::exchange(*last_, now)).count();
}

void LiveRunner::note_trouble(const std::string& what) {
  archive_.add_event(campaign_, "our_failure", {{"what", what}});
  if (trouble_) trouble_(what);
}

void LiveRunner::reuse_earlier(Job& job) {
  results::archive::NewAttempt& record = job.record;
  const bool reusable = campaign_ && (record.effort == Effort::screen || record.effort == Effort::full);
  if (reusable) {
    record.reused_from = archive_.find_artefact(*campaign_, record.artefact, record.effort, job.incumbent->id);
  }
  if (!record.reused_from) return;
  const search::Attempt first = search::recorded_attempt(archive_, *record.reused_from);
  job.attempt.verdict = first.verdict;
  job.attempt.measurement = first.measurement;
  job.attempt.reused = true;
  record.judgement.verdict = job.attempt.verdict;
}

size_t LiveRunner::free_slots() const {
  const size_t slots = session_.judges().size();
  return slots > jobs_.size() ? slots - jobs_.size() : 0;
}

void LiveRunner::prepare(const search::CandidatePtr& candidate, Effort effort) {
  if (!is_naive(candidate)) candidate->builds.start(session_.pool(), effort);
}

void LiveRunner::begin(const search::CandidatePtr& candidate, const search::CandidatePtr& incumbent, Effort effort,
                       std::function<void(search::Attempt)> done) {
  const int64_t number = ++begun_;
  Job& job = jobs_[number];
  job.number = number;
  job.candidate = candidate;
  job.incumbent = incumbent;
  job.done = std::move(done);
  results::archive::NewAttempt& record = job.record;
  record.campaign = campaign_;
  record.problem = problem_id_;
  record.environment = environment_;
  record.candidate = candidate->id;
  record.device = session_.device();
  record.effort = effort;
  if (is_naive(candidate)) {
    record.artefact = naive_solution_.hash();
    return submit(job);
  }
  job.compiling = true;
  prepare(candidate, effort);
  prepare(incumbent, Effort::screen);  // usually compiled already
  post([this] { look_at_builds(); });
}

void LiveRunner::look_at_builds() {
  sandbox::CompilePool& pool = session_.pool();
  const auto ready = [&](const search::CandidatePtr& candidate, Effort effort) {
    return is_naive(candidate) || candidate->builds.ready(pool, effort);
  };
  const auto is_due = [&](const auto& numbered) {
    const Job& job = numbered.second;
    return job.compiling && ready(job.candidate, job.record.effort) && ready(job.incumbent, Effort::screen);
  };
  const auto due = std::find_if(jobs_.begin(), jobs_.end(), is_due);
  if (due == jobs_.end()) return;
  post([this] { look_at_builds(); });  // through the event loop: the callback may run at once
  due->second.compiling = false;
  compiled(due->second);
}

void LiveRunner::compiled(Job& job) {
  results::archive::NewAttempt& record = job.record;
  verifier::judging::Builds& builds = job.candidate->builds;
  if (const sandbox::Rejected* rejected = builds.wait(session_.pool(), record.effort)) {
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

void LiveRunner::submit(Job& job) {
  if (loading_.valid()) return loaded_later_.push_back(job.number);
  const Effort effort = job.record.effort;
  // Null for the naive solution, which each judge builds itself.
  const auto built = [&](const search::CandidatePtr& candidate, Effort needed) -> const verifier::judging::Builds* {
    if (is_naive(candidate)) return nullptr;
    if (candidate->builds.wait(session_.pool(), needed) != nullptr) {
      throw core::SystemError("a candidate that compiled before no longer compiles");
    }
    return &candidate->builds;
  };
  if (effort == Effort::confirm) session_.prepare_examination();
  judges::JudgeTask task{built(job.candidate, effort), built(job.incumbent, Effort::screen), effort, {}};
  const bool scores = effort == Effort::confirm && is_naive(job.incumbent) && !is_naive(job.candidate);
  if (scores) job.on_host = session_.begin_host_check(*problem_, job.candidate->builds);
  task.afterwards = [this, scores, effort, candidate = job.candidate, doubtful = job.doubtful](
                        verifier::verdicts::Judgement& judgement, verifier::judging::Judge& judge) {
    if (calibration_) {
      verifier::verdicts::hold_against_floor(judgement, *problem_, *calibration_, {!session_.hot(), false});
    }
    const bool won = is_win(judgement);
    if (scores && won) examine(*candidate, judgement, judge, *doubtful);
    if (looks_closer_ && !is_naive(candidate)) place_fault(*candidate, judgement, judge);
    const bool profiled = profiled_ == Profiled::wins            ? won && effort == Effort::full
                          : profiled_ == Profiled::right_kernels ? effort != Effort::confirm
                                                                 : false;
    if (profiled) add_counters(*candidate, judgement, judge);
  };
  session_.judges().submit(std::move(task), [this, number = job.number](judges::JudgeResult result) {
    post(number, [this, result = std::move(result)](Job& here) { judged(here, result); });
  });
}

// Runs compute-sanitizer on a confirmed win before it counts. Called on the judge's thread.
void LiveRunner::examine(const search::Candidate& candidate, verifier::verdicts::Judgement& judgement,
                         verifier::judging::Judge& judge, std::optional<verifier::verdicts::Verdict>& doubtful) {
  if (!session_.has_sanitizer()) return;
  const auto begin = std::chrono::steady_clock::now();
  try {
    auto found = session_.examine(candidate.builds, *problem_, judge.open_inputs().get());
    if (found && verifier::devices::cuda::is_doubtful(*found, candidate.builds.solution())) {
      doubtful = std::move(found);
    } else if (found) {
      judgement.verdict = std::move(*found);
      judgement.measurement.reset();
    }
  } catch (const core::SystemError& error) {
    throw core::SystemError(std::string(error.what()) + "; the win counts without it");
  }
  judgement.stages.sanitizer_ms = ms_since(begin);
}

// A GPU reports little more than which launch failed; compute-sanitizer finds the place. The verdict stands either way.
void LiveRunner::place_fault(const search::Candidate& candidate, verifier::verdicts::Judgement& judgement,
                             verifier::judging::Judge& judge) {
  auto* faulted = std::get_if<verifier::verdicts::Faulted>(&judgement.verdict);
  if (faulted == nullptr || faulted->fault.thread || !session_.has_sanitizer()) return;
  const auto found = session_.examine(candidate.builds, *problem_, judge.open_inputs().get());
  if (!found || verifier::devices::cuda::is_doubtful(*found, candidate.builds.solution())) return;
  const auto* placed = std::get_if<verifier::verdicts::Faulted>(&*found);
  if (placed != nullptr) faulted->fault = placed->fault;
}

void LiveRunner::add_counters(const search::Candidate& candidate, verifier::verdicts::Judgement& judgement,
                              verifier::judging::Judge& judge) {
  if (judgement.measurement)
    judgement.measurement->counters = session_.profile(candidate.builds, *problem_, judge.open_inputs().get());
}

void LiveRunner::judged(Job& job, const judges::JudgeResult& result) {
  for (const std::string& what : result.trouble) note_trouble(what);
  if (const auto* failure = std::get_if<std::exception_ptr>(&result.outcome)) std::rethrow_exception(*failure);
  job.record.judgement = std::get<verifier::verdicts::Judgement>(result.outcome);
  const verifier::verdicts::Judgement& judgement = job.record.judgement;
  if (job.on_host && is_win(judgement)) return await_host(job);
  const bool unexplained = looks_closer_ && job.record.effort != Effort::screen && !is_naive(job.candidate) &&
                           judges::HostCheck::may_explain(judgement.verdict);
  if (unexplained && !job.on_host) job.on_host = session_.begin_host_check(*problem_, job.candidate->builds);
  if (unexplained && job.on_host) return await_host(job);
  finish(job);
}

// Without the device, which judges others meanwhile.
void LiveRunner::await_host(Job& job) {
  const auto begin = std::chrono::steady_clock::now();
  job.awaits_host =
      std::async(std::launch::async, [this, begin, number = job.number, on_host = std::move(*job.on_host)]() mutable {
        auto finding = std::make_shared<judges::HostCheck::Finding>(on_host.get());
        post(number, [this, begin, finding](Job& here) {
          here.record.judgement.stages.host_wait_ms = ms_since(begin);
          if (verifier::verdicts::is_correct(here.record.judgement.verdict)) {
            judges::HostCheck::add(std::move(*finding), here.record.judgement, std::move(*here.doubtful));
          } else {
            judges::HostCheck::explain(std::move(*finding), here.record.judgement);
          }
          finish(here);
        });
      });
}

size_t LiveRunner::judging() const {
  return static_cast<size_t>(
      std::ranges::count_if(jobs_, [](const auto& numbered) { return !numbered.second.awaits_host.valid(); }));
}

void LiveRunner::abandon_judging() {
  if (loading_.valid()) loading_.wait();
  session_.judges().drain();
  std::erase_if(jobs_, [](const auto& numbered) { return !numbered.second.awaits_host.valid(); });
  loaded_later_.clear();
}

// Records the attempt and reports it at once, so that the archive keeps the order. Removes the job.
void LiveRunner::finish(Job& job) {
  search::Attempt attempt = std::move(job.attempt);
  results::archive::NewAttempt& record = job.record;
  if (record.judgement.measurement) record.against = job.incumbent->id;
  record.seconds = campaign_ ? seconds_since_last() : 0;
  attempt.id = archive_.add_attempt(record);
  if (recorded_) recorded_(record);
  attempt.verdict = std::move(record.judgement.verdict);
  attempt.stages = record.judgement.stages;
  if (!attempt.reused) attempt.measurement = std::move(record.judgement.measurement);
  const std::function<void(search::Attempt)> done = std::move(job.done);
  jobs_.erase(job.number);
  done(std::move(attempt));
}

search::Attempt LiveRunner::make(const search::CandidatePtr& candidate, const search::CandidatePtr& incumbent,
                                 Effort effort) {
  std::optional<search::Attempt> made;
  begin(candidate, incumbent, effort, [&](search::Attempt attempt) { made = std::move(attempt); });
  while (!made) {
    wait(std::chrono::seconds(1));
    serve();
  }
  return std::move(*made);
}

}  // namespace agent::campaign
