// Where attempts come into being: a candidate is compiled, judged and recorded, or an earlier result is taken over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/workshop.h"
#include "results/archive.h"
#include "verifier/calibration.h"

namespace agent {

// A candidate of the problem in use, known to the archive.
struct Candidate {
  std::string name;
  int64_t id = 0;  // in the archive
  verifier::Builds builds;
};
using CandidatePtr = std::shared_ptr<Candidate>;

struct Attempt {
  int64_t id = 0;
  verifier::Verdict verdict;
  std::optional<verifier::Measurement> measurement;
  verifier::StageTimes stages;  // of this attempt; zero when nothing was judged
  double compile_ms = 0;
  bool reused = false;    // an identical artefact had been judged in this campaign
  bool recalled = false;  // made before the campaign was interrupted
};

class Attempts {
 public:
  // `campaign`: none for a lone judgement. Attempts that this campaign has made already are recalled, not made again.
  // `calibration`: of a GPU; times are held against it.
  Attempts(results::Archive& archive, Workshop& workshop, std::optional<int64_t> campaign,
           std::optional<verifier::Calibration> calibration);

  // Told what went wrong on our side and is tried again.
  void on_trouble(std::function<void(const std::string&)> listener) { trouble_ = std::move(listener); }

  // Teaches the judge; candidates of an earlier problem must not be judged any more.
  void use_problem(const benchsuite::Problem& problem);
  CandidatePtr naive() const { return naive_; }
  // The solution must outlive the candidate. `origin`: seed, user, ...
  CandidatePtr add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                   const sandbox::TunableBinding& binding);

  // Has this campaign made it before it was interrupted?
  bool was_made(const Candidate& candidate, const Candidate& incumbent, verifier::Effort effort) const;
  // Throws core::SystemError when our side fails again and again.
  Attempt make(Candidate& candidate, Candidate& incumbent, verifier::Effort effort);
  // The same for several, on all devices side by side; recorded in this order.
  std::vector<Attempt> make(const std::vector<Candidate*>& candidates, Candidate& incumbent, verifier::Effort effort);
  // How many are judged at the same time.
  size_t side_by_side() const { return workshop_.judges().size(); }

 private:
  std::optional<Attempt> recall(const Candidate& candidate, const Candidate& incumbent, verifier::Effort effort) const;
  Attempt earlier(int64_t id) const;
  // An attempt on its way: what is known of it before it is judged.
  struct Pending {
    Candidate* candidate;
    results::NewAttempt record;
    Attempt attempt;
    bool judged = false;  // or to be judged; else it was recalled, rejected or reused
  };
  Pending prepare(Candidate& candidate, Candidate& incumbent, verifier::Effort effort);
  void judge(std::vector<Pending>& all, Candidate& incumbent, verifier::Effort effort);
  void examine(const Candidate& candidate, verifier::Judgement& judgement);
  Attempt record(Pending pending, Candidate& incumbent);
  void reuse_earlier(Pending& pending, const Candidate& incumbent);
  const verifier::Builds* built(Candidate& candidate, verifier::Effort effort);
  double seconds_since_last();

  results::Archive& archive_;
  Workshop& workshop_;
  std::optional<int64_t> campaign_;
  int64_t last_before_ = 0;  // attempts up to this one were made before an interruption
  std::optional<verifier::Calibration> calibration_;
  int64_t environment_;
  std::optional<benchsuite::Problem> problem_;
  int64_t problem_id_ = 0;
  sandbox::Solution naive_solution_;
  CandidatePtr naive_;
  std::function<void(const std::string&)> trouble_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace agent
