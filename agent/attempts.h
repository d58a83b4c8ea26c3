// Attempts: candidates compiled, judged and recorded. What a campaign repeats until its budget ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/workshop.h"
#include "results/archive/recorder.h"
#include "verifier/verdicts/calibration.h"

namespace agent {

// A solution with its tunables bound, compiled when it is first needed, known to the archive.
struct Candidate {
  std::string name;
  int64_t id = 0;  // in the archive
  verifier::judging::Builds builds;
};
using CandidatePtr = std::shared_ptr<Candidate>;

struct Attempt {
  int64_t id = 0;
  verifier::verdicts::Verdict verdict;
  std::optional<verifier::verdicts::Measurement> measurement;
  verifier::verdicts::StageTimes stages;  // of this attempt; zero when nothing was judged
  double compile_ms = 0;
  std::string compile_log;
  std::optional<int64_t> registers, shared_bytes, spill_bytes;  // where the compiler tells
  bool reused = false;    // an identical artefact had been judged in this campaign
  bool recalled = false;  // made before the campaign was interrupted
  bool charged = false;   // and counted in the budget since then
};
// As the archive has it.
Attempt recorded_attempt(const results::archive::Reader& archive, int64_t id);

// Where candidates are judged, as a search sees it: several at a time, each told when it is done, on the thread that
// serves.
class Bench {
 public:
  virtual ~Bench() = default;

  // How many may be begun now that none of them waits for another.
  virtual size_t free_places() const = 0;
  virtual size_t in_progress() const = 0;
  // Compiles what judging with this effort needs, ahead of time.
  virtual void prepare(const CandidatePtr& candidate, verifier::verdicts::Effort effort) = 0;
  virtual void begin(const CandidatePtr& candidate, const CandidatePtr& incumbent, verifier::verdicts::Effort effort,
                     std::function<void(Attempt)> done) = 0;
  // For something to serve, at most this long.
  virtual void wait(std::chrono::milliseconds at_most) = 0;
  // Tells one thing that is done, or one that a model answered, if there is any. Throws core::SystemError when our side
  // fails again and again.
  virtual void serve() = 0;
  // Nothing that was begun is told any more; returns when nobody is at it.
  virtual void abandon() = 0;

  virtual CandidatePtr naive() const = 0;
  // The solution must outlive the candidate. `origin`: seed, user, ...
  virtual CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                           const sandbox::TunableBinding& binding) = 0;
};

// Known to the archive from here on.
CandidatePtr add_candidate(results::archive::Recorder& archive, const sandbox::Solution& solution,
                           const std::string& name, const std::string& origin, const sandbox::TunableBinding& binding);

class Attempts : public Bench {
 public:
  // `campaign`: none for a lone judgement. `calibration`: of a GPU; times are held against it.
  Attempts(results::archive::Recorder& archive, Workshop& workshop, std::optional<int64_t> campaign,
           std::optional<verifier::verdicts::Calibration> calibration);
  ~Attempts() override;

  const std::optional<verifier::verdicts::Calibration>& calibration() const { return calibration_; }
  // Told what went wrong on our side and is tried again.
  void on_trouble(std::function<void(const std::string&)> listener) { trouble_ = std::move(listener); }

  // For solutions whose authors read what happened to them: on a GPU, faults get their place from compute-sanitizer,
  // and wins their hardware counters from a profiler, where those are here.
  void look_closer() { looks_closer_ = true; }

  // Teaches the judge; candidates of an earlier problem must not be judged any more.
  void use_problem(const benchsuite::Problem& problem);
  // Begins it and serves until it is done.
  Attempt make(const CandidatePtr& candidate, const CandidatePtr& incumbent, verifier::verdicts::Effort effort);

  size_t free_places() const override;
  size_t in_progress() const override { return jobs_.size(); }
  void prepare(const CandidatePtr& candidate, verifier::verdicts::Effort effort) override;
  void begin(const CandidatePtr& candidate, const CandidatePtr& incumbent, verifier::verdicts::Effort effort,
             std::function<void(Attempt)> done) override;
  void wait(std::chrono::milliseconds at_most) override { workshop_.mailbox().wait(at_most); }
  void serve() override { workshop_.mailbox().serve(); }
  void abandon() override;
  CandidatePtr naive() const override { return naive_; }
  CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                   const sandbox::TunableBinding& binding) override;

 private:
  // An attempt on its way: what is known of it so far.
  struct Job {
    int64_t number = 0;
    CandidatePtr candidate, incumbent;
    std::function<void(Attempt)> done;
    results::archive::NewAttempt record;
    Attempt attempt;
    bool compiling = false;
  };

  void post(std::function<void()> message);
  void post(int64_t number, std::function<void(Job&)> message);
  void look_at_builds();
  void compiled(Job& job);
  void submit(Job& job);
  void judged(Job& job, const JudgeResult& result);
  void examine(const Candidate& candidate, verifier::verdicts::Judgement& judgement);
  void place_fault(const Candidate& candidate, verifier::verdicts::Judgement& judgement);
  void add_counters(const Candidate& candidate, verifier::verdicts::Judgement& judgement);
  void finish(Job& job);
  void reuse_earlier(Job& job);
  void note_trouble(const std::string& what);
  double seconds_since_last();

  results::archive::Recorder& archive_;
  Workshop& workshop_;
  std::optional<int64_t> campaign_;
  std::optional<verifier::verdicts::Calibration> calibration_;
  int64_t environment_;
  std::optional<benchsuite::Problem> problem_;
  int64_t problem_id_ = 0;
  bool looks_closer_ = false;
  sandbox::Solution naive_solution_;
  CandidatePtr naive_;
  std::function<void(const std::string&)> trouble_;
  std::map<int64_t, Job> jobs_;  // in the order in which they were begun
  int64_t begun_ = 0;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // for messages that come when this is gone
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace agent
