// For tests of the search: simulated devices and models on a clock that jumps from event to event.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "agent/models/model.h"
#include "agent/prompting/prompting_fixture.h"
#include "agent/search/attempt_runner.h"
#include "agent/search/event_loop.h"
#include "agent/search/progress.h"
#include "results/archive/archive_fixture.h"
#include "sandbox/naive_solution.h"

namespace agent::search::test {

class VirtualTime {
 public:
  double now() const { return now_; }
  void clear() { events_.clear(); }
  void after(double seconds, std::function<void()> event) { events_.emplace(now_ + seconds, std::move(event)); }
  // Jumps to the next event and runs it. Returns false if there is none.
  bool step() {
    if (events_.empty()) return false;
    const auto next = events_.begin();
    now_ = next->first;
    const std::function<void()> event = std::move(next->second);
    events_.erase(next);
    event();
    return true;
  }

 private:
  double now_ = 0;
  std::multimap<double, std::function<void()>> events_;
};

// `speed_up`: a candidate's speed-up over naive; nullopt: it is wrong. Attempts are recorded for the campaign of
// `started`.
class SimulatedRunner : public AttemptRunner {
 public:
  using SpeedUp = std::function<std::optional<double>(const Candidate&)>;
  // Duration of an attempt, by its name.
  using Seconds = std::function<double(const std::string& name)>;
  SimulatedRunner(VirtualTime& time, EventLoop& event_loop, results::archive::test::Started& started, size_t devices,
                  SpeedUp speed_up)
      : time_(time), event_loop_(event_loop), started_(started), devices_(devices), speed_up_(std::move(speed_up)) {}
  // Called before and after an attempt is recorded; a test may stop the search there.
  std::function<void()> moment = [] {};
  Seconds seconds = [this](const std::string&) { return std::uniform_real_distribution<double>(0.2, 0.8)(chance_); };

  size_t free_slots() const override { return devices_ - busy_; }
  size_t in_progress() const override { return busy_; }
  void prepare(const CandidatePtr&, verifier::verdicts::Effort) override {}
  void begin(const CandidatePtr& candidate, const CandidatePtr& incumbent, verifier::verdicts::Effort effort,
             std::function<void(Attempt)> done) override {
    ++busy_;
    moment();
    const double taken = seconds(std::to_string(candidate->id) + "/" + std::to_string(incumbent->id) + "/" +
                                 std::string(name_of(effort)));
    busy_seconds += taken;
    time_.after(taken, [this, candidate, incumbent, effort, done = std::move(done)] {
      --busy_;
      ++attempts;
      moment();
      Attempt made = attempt(*candidate, *incumbent, effort);
      record(made, *candidate, *incumbent, effort);
      moment();
      done(std::move(made));
    });
  }
  void wait(std::chrono::milliseconds) override {}
  void serve() override {
    if (!event_loop_.serve()) time_.step();
  }
  void abandon() override {}
  CandidatePtr naive() const override { return naive_; }
  // Another problem than gelu_f32.
  void use_problem(const benchsuite::Problem& problem) {
    problem_ = started_.archive.add_problem(problem, benchsuite::content_hash(problem));
    naive_solution_ = sandbox::naive_solution(problem);
    naive_ = add_candidate(started_.archive, naive_solution_, "naive", "naive", {});
  }
  CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string&,
                   const sandbox::TunableBinding& binding) override {
    return add_candidate(started_.archive, solution, name, "simulated", binding);
  }

  double busy_seconds = 0;
  int64_t attempts = 0;

 private:
  Attempt attempt(const Candidate& candidate, const Candidate& incumbent, verifier::verdicts::Effort effort) {
    Attempt made;
    const auto mine = candidate.id == naive_->id ? 1.0 : speed_up_(candidate);
    const auto other = incumbent.id == naive_->id ? 1.0 : speed_up_(incumbent);
    if (!mine) {
      made.verdict = verifier::verdicts::WrongResult{{}, "y", 0, 1, 0, 100, 1, 1};
      return made;
    }
    made.verdict = verifier::verdicts::Correct{};
    const double ratio = effort == verifier::verdicts::Effort::control ? 1 : *mine / other.value_or(1);
    verifier::verdicts::Measurement measured;
    measured.speed_up = {ratio, ratio * 0.999, ratio * 1.001};
    measured.outcome = ratio > 1.002   ? verifier::statistics::Outcome::win
                       : ratio < 0.998 ? verifier::statistics::Outcome::loss
                                       : verifier::statistics::Outcome::tie;
    made.measurement = measured;
    return made;
  }

  void record(Attempt& made, const Candidate& candidate, const Candidate& incumbent,
              verifier::verdicts::Effort effort) {
    verifier::verdicts::Judgement judgement;
    judgement.verdict = made.verdict;
    judgement.measurement = made.measurement;
    results::archive::NewAttempt recorded = started_.attempt_at(candidate.id, effort, std::move(judgement));
    if (problem_) recorded.problem = *problem_;
    recorded.artefact.clear();
    recorded.compile_log.clear();
    if (recorded.against) recorded.against = incumbent.id;
    made.id = started_.archive.add_attempt(recorded);
  }

  VirtualTime& time_;
  EventLoop& event_loop_;
  results::archive::test::Started& started_;
  size_t devices_, busy_ = 0;
  SpeedUp speed_up_;
  std::mt19937_64 chance_{1};
  std::optional<int64_t> problem_;
  sandbox::Solution naive_solution_ =
      sandbox::own_solution(prompting::test::shipped_problem("gelu_f32"), benchsuite::kNaiveFile);
  CandidatePtr naive_ = add_candidate(started_.archive, naive_solution_, "naive", "naive", {});
};

// Answers with the result of `reply` after some seconds.
class SimulatedModel : public models::Model {
 public:
  using Reply = std::function<models::Answer(const models::Occasion&, const models::Prompt&)>;
  SimulatedModel(VirtualTime& time, double least_s, double most_s, Reply reply)
      : time_(time), latency_(least_s, most_s), reply_(std::move(reply)) {}

  const std::string& name() const override { return called; }
  void ask(const models::Occasion& occasion, const models::Prompt& prompt, const models::Sampling&,
           std::function<void(models::Answer)> answered) override {
    most_in_flight = std::max(most_in_flight, ++in_flight_);
    ++asked;
    moment();
    time_.after(seconds(occasion.problem + " " + std::to_string(occasion.number)),
                [this, occasion, prompt, answered = std::move(answered)] {
                  --in_flight_;
                  answered(reply_(occasion, prompt));
                });
  }
  void cancel() override {}
  bool keeps_requests() const override { return keeps; }

  bool keeps = false;
  std::function<void()> moment = [] {};
  std::function<double(const std::string&)> seconds = [this](const std::string&) { return latency_(chance_); };
  int64_t asked = 0, most_in_flight = 0;
  std::string called = "simulated:model";

 private:
  VirtualTime& time_;
  std::uniform_real_distribution<double> latency_;
  Reply reply_;
  int64_t in_flight_ = 0;
  std::mt19937_64 chance_{2};
};

class SilentProgress : public Progress {
 public:
  void campaign_started(const std::string&, size_t, const BudgetLeft&) override {}
  void problem_started(const std::string&, size_t, size_t) override {}
  void attempted(const AttemptReport& report) override { best = report.best; }
  void answered(const ReplyReport& report) override { last = report; }
  void problem_ended(const std::string&, double, const std::string&) override {}
  void noted(const std::string& what) override { notes.push_back(what); }
  void warned(const std::string& what) override { warnings.push_back(what); }

  double best = 1;
  ReplyReport last;
  std::vector<std::string> warnings, notes;
};

}  // namespace agent::search::test
