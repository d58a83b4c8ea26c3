// Judging candidates for a search.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/prompting/facts.h"
#include "results/archive/recorder.h"
#include "verifier/judging/builds.h"
#include "verifier/verdicts/judgement.h"

namespace agent::search {

// A solution with its tunables bound, recorded in the archive and compiled on first use.
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
  std::optional<int64_t> registers, shared_bytes, spill_bytes;  // absent if the compiler does not report them
  bool reused = false;  // an identical artefact had been judged in this campaign
};
// The attempt as recorded in the archive.
Attempt recorded_attempt(const results::archive::Reader& archive, int64_t id);

// The facts that explain an attempt to the candidate's author. `against`: the incumbent, in words.
prompting::AttemptFacts facts_of(const Attempt& attempt, const sandbox::Solution& solution,
                                 const sandbox::TunableBinding& binding, const std::string& against,
                                 const prompting::DeviceText& device);

// Judges candidates for a search, several at a time. Reports each result on the thread that calls serve().
class AttemptRunner {
 public:
  virtual ~AttemptRunner() = default;

  // Number of candidates that can start now without queueing.
  virtual size_t free_slots() const = 0;
  virtual size_t in_progress() const = 0;
  // How many can be judged at a time.
  virtual size_t slots() const { return free_slots() + in_progress(); }
  // Compiles what judging with this effort needs, ahead of time.
  virtual void prepare(const CandidatePtr& candidate, verifier::verdicts::Effort effort) = 0;
  virtual void begin(const CandidatePtr& candidate, const CandidatePtr& incumbent, verifier::verdicts::Effort effort,
                     std::function<void(Attempt)> done) = 0;
  // Waits for something to serve, at most this long.
  virtual void wait(std::chrono::milliseconds at_most) = 0;
  // Handles one event, a finished attempt or a model's answer, if there is one. Throws core::SystemError when our side
  // keeps failing.
  virtual void serve() = 0;
  // Cancels everything in flight. No callback fires afterwards; blocks until all workers are idle.
  virtual void abandon() = 0;

  virtual CandidatePtr naive() const = 0;
  // The solution must outlive the candidate. `origin`: seed, user, ...
  virtual CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                           const sandbox::TunableBinding& binding) = 0;
};

// Records the candidate in the archive.
CandidatePtr add_candidate(results::archive::Recorder& archive, const sandbox::Solution& solution,
                           const std::string& name, const std::string& origin, const sandbox::TunableBinding& binding);

}  // namespace agent::search
