// Races, bounds and unset memory of a kernel that won on a GPU, or was wrong there, looked for by the checking build of
// the cpu device. A GPU's hardware hides most races, and compute-sanitizer sees shared memory alone; the same source on
// the cpu device hides none that is reached. Hosts with processors to spare share a candidate's shapes out to several
// judges.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/campaign/judges/judge_pool.h"
#include "benchsuite/problem.h"
#include "sandbox/compile_pool.h"
#include "verifier/judging/builds.h"
#include "verifier/judging/policy.h"
#include "verifier/verdicts/verdict.h"

namespace agent::campaign::judges {

class HostCheck {
 public:
  struct Finding {
    std::optional<verifier::verdicts::Verdict> fault;  // a definite one; a win then does not count
    verifier::verdicts::HostCheck record;
    bool at_test_shapes = true;                        // all listed ones are cheap enough to be executed
    std::optional<std::vector<int64_t>> not_run = {};  // as in verdicts::Scope
  };
  // A fault takes the place of the verdict that a judgement has, and its measurement. `doubtful`: what another tool
  // reports and may be wrong about (devices/cuda/sanitizers.h); it stands unless the candidate passed here, at
  // all test shapes.
  static void add(Finding finding, verifier::verdicts::Judgement& judgement,
                  std::optional<verifier::verdicts::Verdict> doubtful = std::nullopt);
  // Whether a GPU's verdict says what is wrong and not where: a wrong result, a hang, a fault without a thread.
  static bool may_explain(const verifier::verdicts::Verdict& verdict);
  // A fault with its line takes the place of such a verdict.
  static void explain(Finding finding, verifier::verdicts::Judgement& judgement);

  // A confirmation waits for it.
  static constexpr double kMost_s = 20;
  // A quarter of the host's processors, from one to four.
  static size_t usual_judges();
  // Starts the cpu device's workers; `compiler` compiles for it. `most_s`: for one candidate, after which nothing is
  // said about it. Throws core::SystemError when one does not start.
  HostCheck(const verifier::judging::JudgedDevice& cpu, const sandbox::process::WorkerCommand& compiler,
            double most_s = kMost_s, size_t judges = usual_judges());

  // Compiles and launches the candidate on threads of their own, one candidate after the other, on the problem's shapes
  // for the cpu device. A failure of our own is recorded as the reason why nothing was decided.
  std::future<Finding> begin(const benchsuite::Problem& problem, const sandbox::Solution& solution,
                             const sandbox::TunableBinding& binding);

 private:
  // One candidate, which all judges look at.
  struct Candidate;
  // One judge, and the problem that it knows.
  struct Lane {
    std::string problem, why_no_problem;  // its content's hash; why it cannot be judged there
    std::unique_ptr<JudgePool> judge;
  };
  Finding look(verifier::judging::Judge& judge, Lane& lane, Candidate& candidate,
               const verifier::judging::Share& share);
  // A fault counts wherever it was found; otherwise all must have passed.
  static Finding merged(std::vector<Finding> findings);

  sandbox::CompilePool pool_;
  std::vector<Lane> lanes_;
};

}  // namespace agent::campaign::judges
