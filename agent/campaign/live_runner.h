// Makes attempts: compiles, judges and records candidates on a live device.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/campaign/device_session.h"
#include "agent/search/attempt_runner.h"
#include "results/archive/recorder.h"
#include "verifier/verdicts/calibration.h"

namespace agent::campaign {

class LiveRunner : public search::AttemptRunner {
 public:
  // `campaign`: nullopt for a single judgement. `calibration`: of a GPU; times are compared with it.
  LiveRunner(results::archive::Recorder& archive, DeviceSession& session, std::optional<int64_t> campaign,
             std::optional<verifier::verdicts::Calibration> calibration);
  ~LiveRunner() override;

  const std::optional<verifier::verdicts::Calibration>& calibration() const { return calibration_; }
  // Calls `listener` with each failure of our side that is retried.
  void on_trouble(std::function<void(const std::string&)> listener) { trouble_ = std::move(listener); }

  // For authors who read the results: on a GPU, compute-sanitizer locates faults, and a profiler counts hardware
  // events, where installed.
  enum class Profiled { nothing, wins, right_kernels };
  void look_closer(Profiled profiled = Profiled::wins) {
    looks_closer_ = true;
    profiled_ = profiled;
  }

  // Calls `listener` with each attempt as it is recorded, before its `done`.
  void on_record(std::function<void(const results::archive::NewAttempt&)> listener) { recorded_ = std::move(listener); }

  // Loads the problem into the judges. Candidates of an earlier problem must no longer be submitted.
  void use_problem(const benchsuite::Problem& problem);
  // The same without waiting: attempts may begin at once. What fails there comes out of serve().
  void begin_problem(const benchsuite::Problem& problem);
  // Shares the stopwatch that says how long attempts took: those of several runners side by side share their time.
  void share_time(const LiveRunner& other) { last_ = other.last_; }
  // Starts one attempt and serves events until it is done.
  search::Attempt make(const search::CandidatePtr& candidate, const search::CandidatePtr& incumbent,
                       verifier::verdicts::Effort effort);

  size_t free_slots() const override;
  size_t in_progress() const override { return jobs_.size(); }
  size_t slots() const override { return session_.judges().size(); }
  // Attempts that still need the device. The others wait for the cpu device's opinion of a win.
  size_t judging() const;
  // Drops those attempts, and waits until the device is free.
  void abandon_judging();
  void prepare(const search::CandidatePtr& candidate, verifier::verdicts::Effort effort) override;
  void begin(const search::CandidatePtr& candidate, const search::CandidatePtr& incumbent,
             verifier::verdicts::Effort effort, std::function<void(search::Attempt)> done) override;
  void wait(std::chrono::milliseconds at_most) override { session_.event_loop().wait(at_most); }
  void serve() override { session_.event_loop().serve(); }
  void abandon() override;
  search::CandidatePtr naive() const override { return naive_; }
  search::CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                           const sandbox::TunableBinding& binding) override;

 private:
  // An attempt in flight, and what is known about it so far.
  struct Job {
    int64_t number = 0;
    search::CandidatePtr candidate, incumbent;
    std::function<void(search::Attempt)> done;
    results::archive::NewAttempt record;
    search::Attempt attempt;
    bool compiling = false;
    std::optional<std::future<judges::HostCheck::Finding>>
        on_host;                    // begun with a confirmation, or after a verdict that it may explain
    std::future<void> awaits_host;  // the device is done with it
    // What compute-sanitizer found, where the cpu device's look decides whether it counts.
    std::shared_ptr<std::optional<verifier::verdicts::Verdict>> doubtful =
        std::make_shared<std::optional<verifier::verdicts::Verdict>>();
  };

  bool is_naive(const search::CandidatePtr& candidate) const { return candidate->id == naive_->id; }
  void set_problem(const benchsuite::Problem& problem);
  void loaded(const std::exception_ptr& failure);
  void post(std::function<void()> message);
  void post(int64_t number, std::function<void(Job&)> message);
  void look_at_builds();
  void compiled(Job& job);
  void submit(Job& job);
  void judged(Job& job, const judges::JudgeResult& result);
  void await_host(Job& job);
  void examine(const search::Candidate& candidate, verifier::verdicts::Judgement& judgement,
               verifier::judging::Judge& judge, std::optional<verifier::verdicts::Verdict>& doubtful);
  void place_fault(const search::Candidate& candidate, verifier::verdicts::Judgement& judgement,
                   verifier::judging::Judge& judge);
  void add_counters(const search::Candidate& candidate, verifier::verdicts::Judgement& judgement,
                    verifier::judging::Judge& judge);
  void finish(Job& job);
  void reuse_earlier(Job& job);
  void note_trouble(const std::string& what);
  double seconds_since_last();

  results::archive::Recorder& archive_;
  DeviceSession& session_;
  std::optional<int64_t> campaign_;
  std::optional<verifier::verdicts::Calibration> calibration_;
  int64_t environment_;
  std::optional<benchsuite::Problem> problem_;
  int64_t problem_id_ = 0;
  bool looks_closer_ = false;
  Profiled profiled_ = Profiled::nothing;
  sandbox::Solution naive_solution_;
  search::CandidatePtr naive_;
  std::function<void(const std::string&)> trouble_;
  std::function<void(const results::archive::NewAttempt&)> recorded_;
  std::map<int64_t, Job> jobs_;        // in order of their start
  std::future<void> loading_;          // of the problem, begun and not yet waited for
  std::vector<int64_t> loaded_later_;  // jobs that wait for it
  int64_t begun_ = 0;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // expires with this: later messages are dropped
  using Time = std::chrono::steady_clock::time_point;
  std::shared_ptr<Time> last_ = std::make_shared<Time>(std::chrono::steady_clock::now());
};

}  // namespace agent::campaign
