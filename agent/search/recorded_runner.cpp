#include "agent/search/recorded_runner.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "sandbox/naive_solution.h"

namespace agent::search {
namespace {
using Kind = results::archive::StepRecord::Kind;
}

SearchEvents::SearchEvents(Journal& journal) : journal_(journal) {
  journal_.on_finish([this] {
    for (RecordedRunner* runner : runners_) runner->proceed_all();
  });
}

AttemptRunner* SearchEvents::live() const {
  for (const RecordedRunner* runner : runners_) {
    if (runner->live_ != nullptr) return runner->live_;
  }
  return nullptr;
}

void SearchEvents::wait(std::chrono::milliseconds at_most) {
  const auto is_ready = [](const RecordedRunner* runner) { return !runner->ready_.empty(); };
  if (journal_.recalls() || std::ranges::any_of(runners_, is_ready)) return;
  if (AttemptRunner* const any = live()) any->wait(at_most);
}

void SearchEvents::serve() {
  if (const Journal::Step* const step = journal_.next()) return take(*step);
  AttemptRunner* const any = live();
  if (any == nullptr) throw RecordEnded();
  journal_.finish();
  for (RecordedRunner* runner : runners_) {
    if (runner->finish_one() || runner->slots_changed()) return;
  }
  if (!journal_.ask_again()) any->serve();
}

void SearchEvents::take(const Journal::Step& step) {
  if (step.kind == Kind::request || step.kind == Kind::reply) return journal_.model_step(step);
  for (RecordedRunner* runner : runners_) {
    if (step.kind == Kind::attempt && runner->problem_ == step.problem) return runner->report(step);
    if (step.kind != Kind::event) continue;
    if (const auto slots = journal_.take_event("places", runner->problem_)) {
      runner->slots_ = slots->at("places").get<size_t>();
      runner->changed_ = true;
      return;
    }
  }
  journal_.diverge(describe(step), "the search continues");
}

RecordedRunner::RecordedRunner(results::archive::Recorder& archive, SearchEvents& events, BudgetShare& budget,
                               const benchsuite::Problem& problem, size_t slots, bool confirms_beside)
    : archive_(archive),
      events_(events),
      journal_(events.journal()),
      budget_(budget),
      problem_(problem.name),
      slots_(slots),
      confirms_beside_(confirms_beside),
      naive_solution_(sandbox::naive_solution(problem)),
      naive_(add(naive_solution_, "naive", "naive", sandbox::default_binding(naive_solution_))) {
  events_.runners_.push_back(this);
}

RecordedRunner::~RecordedRunner() { std::erase(events_.runners_, this); }

void RecordedRunner::attach(AttemptRunner& live) {
  live_ = &live;
  if (journal_.is_finished()) proceed_all();
}

void RecordedRunner::detach() {
  live_->abandon();
  live_ = nullptr;
  waiting_.splice(waiting_.begin(), in_live_);
}

void RecordedRunner::proceed_all() {
  if (live_ == nullptr) return;
  for (Started& started : std::exchange(waiting_, {})) proceed(std::move(started));
}

size_t RecordedRunner::in_progress() const {
  return waiting_.size() + ready_.size() + (live_ != nullptr ? live_->in_progress() : 0);
}

size_t RecordedRunner::free_slots() const {
  const size_t here = in_progress() - (confirms_beside_ ? confirming_ : 0);
  return slots_ > here ? slots_ - here : 0;
}

void RecordedRunner::prepare(const CandidatePtr& candidate, verifier::verdicts::Effort effort) {
  if (live_ != nullptr && journal_.is_finished()) live_->prepare(candidate, effort);
}

void RecordedRunner::begin(const CandidatePtr& candidate, const CandidatePtr& incumbent,
                           verifier::verdicts::Effort effort, std::function<void(Attempt)> done) {
  const bool confirms = effort == verifier::verdicts::Effort::confirm;
  if (confirms) ++confirming_;
  Started started{candidate, incumbent, effort, [this, confirms, done = std::move(done)](Attempt attempt) {
                    if (confirms) --confirming_;
                    changed_ = true;
                    done(std::move(attempt));
                  }};
  if (live_ == nullptr || !journal_.is_finished()) {
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
    const auto one = in_live_.insert(in_live_.end(), std::move(started));
    live_->begin(one->candidate, one->incumbent, one->effort, [this, one](Attempt attempt) {
      const std::function<void(Attempt)> done = std::move(one->done);
      in_live_.erase(one);
      budget_.charge_attempt();
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
  budget_.charge_attempt();
  journal_.recall([&] { done(std::move(attempt)); });
}

// Hands over one attempt that was found among the remaining steps.
bool RecordedRunner::finish_one() {
  if (ready_.empty()) return false;
  Finished finished = std::move(ready_.front());
  ready_.pop_front();
  journal_.recall([&] { finished.done(std::move(finished.attempt)); });
  return true;
}

// The number of slots changes when a device is retired, or when a campaign resumes on another host.
bool RecordedRunner::slots_changed() {
  if (live_ == nullptr) return false;
  const size_t now = live_->slots();
  if (now == slots_) return false;
  slots_ = now;
  changed_ = true;
  journal_.note("places", {{"problem", problem_}, {"places", now}});
  return true;
}

void RecordedRunner::abandon() {
  if (live_ != nullptr) live_->abandon();
  waiting_.clear();
  ready_.clear();
  in_live_.clear();
  confirming_ = 0;
}

CandidatePtr RecordedRunner::add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                                 const sandbox::TunableBinding& binding) {
  return add_candidate(archive_, solution, name, origin, binding);
}

}  // namespace agent::search
