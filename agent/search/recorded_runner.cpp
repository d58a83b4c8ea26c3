#include "agent/search/recorded_runner.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "sandbox/naive_solution.h"

namespace agent::search {
namespace {
using Kind = results::archive::StepRecord::Kind;
}

RecordedRunner::RecordedRunner(results::archive::Recorder& archive, Journal& journal, Budget& budget,
                               AttemptRunner* live)
    : archive_(archive), journal_(journal), budget_(budget), live_(live) {
  journal_.on_finish([this] {
    for (Started& started : std::exchange(waiting_, {})) proceed(std::move(started));
  });
}

void RecordedRunner::use_problem(const benchsuite::Problem& problem, size_t slots) {
  slots_ = slots;
  if (live_ != nullptr) return;
  naive_solution_ = sandbox::naive_solution(problem);
  naive_ = add(naive_solution_, "naive", "naive", sandbox::default_binding(naive_solution_));
}

size_t RecordedRunner::in_progress() const {
  return waiting_.size() + ready_.size() + (live_ != nullptr ? live_->in_progress() : 0);
}

size_t RecordedRunner::free_slots() const { return slots_ > in_progress() ? slots_ - in_progress() : 0; }

void RecordedRunner::prepare(const CandidatePtr& candidate, verifier::verdicts::Effort effort) {
  if (live_ != nullptr && !journal_.recalls()) live_->prepare(candidate, effort);
}

void RecordedRunner::begin(const CandidatePtr& candidate, const CandidatePtr& incumbent,
                           verifier::verdicts::Effort effort, std::function<void(Attempt)> done) {
  Started started{candidate, incumbent, effort, std::move(done)};
  if (journal_.recalls() || live_ == nullptr) {
    waiting_.push_back(std::move(started));
  } else {
    proceed(std::move(started));
  }
}

bool RecordedRunner::fits(const Started& started, const Journal::Step& step) {
  return step.kind == Kind::attempt && step.candidate == started.candidate->id &&
         step.effort == name_of(started.effort) && (!step.against || *step.against == started.incumbent->id);
}

// Earlier versions recorded no order: hands over the recorded attempt at once.
void RecordedRunner::proceed(Started started) {
  if (const auto left = journal_.take_left([&](const Journal::Step& step) { return fits(started, step); })) {
    ready_.push_back({std::move(started.done), recorded_attempt(archive_, left->id)});  // charged with all that is left
  } else {
    live_->begin(started.candidate, started.incumbent, started.effort,
                 [this, done = std::move(started.done)](Attempt attempt) {
                   budget_.charge_attempts();
                   done(std::move(attempt));
                 });
  }
}

void RecordedRunner::report(const Journal::Step& step) {
  const auto started =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Started& one) { return fits(one, step); });
  if (started == waiting_.end()) {
    std::vector<std::string> under_way;
    for (const Started& one : waiting_) {
      under_way.push_back(std::string(name_of(one.effort)) + " of " + one.candidate->name + " " +
                          sandbox::describe(one.candidate->builds.binding()) + " against " + one.incumbent->name);
    }
    const results::archive::RecordedAttempt was = archive_.attempt(step.id);
    return journal_.diverge("attempt " + std::to_string(step.id) + ", " + was.effort + " of " + was.solution + " " +
                                sandbox::describe(was.binding) + " against " + was.against,
                            under_way.empty() ? "nothing is in flight" : "under way: " + core::join(under_way, ", "));
  }
  Attempt attempt = recorded_attempt(archive_, step.id);
  const std::function<void(Attempt)> done = std::move(started->done);
  waiting_.erase(started);
  journal_.take();
  budget_.charge_attempts();
  journal_.recall([&] { done(std::move(attempt)); });
}

// The number of slots changes when a device is retired, or when a campaign resumes on another host.
bool RecordedRunner::slots_changed() {
  const size_t now = live_->free_slots() + live_->in_progress();
  if (now == slots_) return false;
  slots_ = now;
  journal_.note("places", {{"places", now}});
  return true;
}

void RecordedRunner::wait(std::chrono::milliseconds at_most) {
  if (live_ != nullptr && !journal_.recalls() && ready_.empty()) live_->wait(at_most);
}

void RecordedRunner::serve() {
  if (const Journal::Step* const step = journal_.next()) {
    if (step->kind == Kind::attempt) return report(*step);
    if (step->kind != Kind::event) return journal_.model_step(*step);
    if (const auto slots = journal_.take_event("places", "")) {
      slots_ = slots->at("places").get<size_t>();
      return;
    }
    return journal_.diverge(describe(*step), "the search continues");
  }
  if (live_ == nullptr) throw RecordEnded();
  journal_.finish();
  if (!ready_.empty()) {
    Finished finished = std::move(ready_.front());
    ready_.pop_front();
    return journal_.recall([&] { finished.done(std::move(finished.attempt)); });
  }
  if (slots_changed() || journal_.ask_again()) return;
  live_->serve();
}

void RecordedRunner::abandon() {
  waiting_.clear();
  ready_.clear();
  if (live_ != nullptr) live_->abandon();
}

CandidatePtr RecordedRunner::naive() const { return live_ != nullptr ? live_->naive() : naive_; }

CandidatePtr RecordedRunner::add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                                 const sandbox::TunableBinding& binding) {
  return add_candidate(archive_, solution, name, origin, binding);
}

}  // namespace agent::search
