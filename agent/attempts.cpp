#include "agent/attempts.h"

#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "sandbox/artefact.h"
#include "verifier/bound.h"

namespace agent {
namespace {
using verifier::Effort;
constexpr int kTries = 3;  // of one judgement, when our side fails

// Everything that defines what is asked: a result counts for these files only.
std::string hash_of(const benchsuite::Problem& problem) {
  return core::Hasher()
      .field("problem", problem.json_text)
      .field("reference", core::read_file(problem.reference_file()))
      .field("naive", core::read_file(problem.naive_file()))
      .hex();
}
}  // namespace

Attempts::Attempts(results::Archive& archive, Workshop& workshop, std::optional<int64_t> campaign,
                   std::optional<verifier::Calibration> calibration)
    : archive_(archive),
      workshop_(workshop),
      campaign_(campaign),
      calibration_(std::move(calibration)),
      environment_(archive.add_environment(workshop.environment())) {
  if (!campaign) return;
  const std::vector<int64_t> before = archive.attempts_of_campaign(*campaign);
  if (!before.empty()) last_before_ = before.back();
}

void Attempts::use_problem(const benchsuite::Problem& problem) {
  workshop_.judge().use_problem(problem, workshop_.pool());
  problem_ = problem;
  problem_id_ = archive_.add_problem(problem, hash_of(problem));
  const verifier::Builds& naive = workshop_.judge().naive();
  naive_ = add(naive.solution(), "naive", "naive", naive.binding());
}

CandidatePtr Attempts::add(const sandbox::Solution& solution, const std::string& name, const std::string& origin,
                           const sandbox::TunableBinding& binding) {
  const int64_t id = archive_.add_candidate(archive_.add_solution({&solution, name, origin, {}}), binding);
  return std::make_shared<Candidate>(Candidate{name, id, verifier::Builds(solution, binding)});
}

bool Attempts::was_made(const Candidate& candidate, const Candidate& incumbent, Effort effort) const {
  if (last_before_ == 0) return false;
  const auto found = archive_.find_attempt(campaign_.value(), candidate.id, effort, incumbent.id);
  return found && *found <= last_before_;
}

std::optional<Attempt> Attempts::recall(const Candidate& candidate, const Candidate& incumbent, Effort effort) const {
  if (!was_made(candidate, incumbent, effort)) return std::nullopt;
  Attempt attempt = earlier(archive_.find_attempt(campaign_.value(), candidate.id, effort, incumbent.id).value());
  attempt.recalled = true;
  return attempt;
}

Attempt Attempts::earlier(int64_t id) const {
  results::RecordedAttempt record = archive_.attempt(id);
  if (record.reused_from) {
    Attempt attempt = earlier(*record.reused_from);
    attempt.id = id;
    attempt.reused = true;
    return attempt;
  }
  Attempt attempt;
  attempt.id = id;
  attempt.verdict = std::move(record.verdict);
  attempt.measurement = std::move(record.measurement);
  return attempt;
}

double Attempts::seconds_since_last() {
  const auto now = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
}

// Of the candidate, or of the judge's own naive solution.
const verifier::Builds& Attempts::built(Candidate& candidate, Effort effort) {
  if (&candidate == naive_.get()) return workshop_.judge().naive();
  if (candidate.builds.wait(workshop_.pool(), effort) != nullptr) {
    throw core::SystemError("what was compiled before does not compile any more");
  }
  return candidate.builds;
}

verifier::Judgement Attempts::judge(Candidate& candidate, Candidate& incumbent, Effort effort) {
  for (int left = kTries - 1;; --left) {
    try {
      return workshop_.judge().judge(built(candidate, effort), built(incumbent, Effort::screen), effort);
    } catch (const verifier::DeviceSetAside&) {
      throw;
    } catch (const core::SystemError& error) {
      archive_.add_event(campaign_, "our_failure", {{"what", error.what()}, {"candidate", candidate.id}});
      if (left == 0) throw;
      if (trouble_) trouble_(std::string(error.what()) + "; trying again");
    }
  }
}

Attempt Attempts::make(Candidate& candidate, Candidate& incumbent, Effort effort) {
  if (auto recalled = recall(candidate, incumbent, effort)) return *recalled;
  results::NewAttempt record;
  record.campaign = campaign_;
  record.problem = problem_id_;
  record.environment = environment_;
  record.candidate = candidate.id;
  record.device = workshop_.device();
  record.effort = effort;

  Attempt attempt;
  const sandbox::Rejected* rejected =
      &candidate == naive_.get() ? nullptr : candidate.builds.wait(workshop_.pool(), effort);
  if (rejected != nullptr) {
    record.compile_log = rejected->log;
    record.judgement.verdict = verifier::CompileFailed{rejected->reason, rejected->message, rejected->line};
  } else {
    const verifier::Builds& builds = built(candidate, effort);
    record.compile_log = builds.fast().log;
    record.compile_ms = attempt.compile_ms = builds.compile_ms();
    record.artefact = sandbox::artefact_hash(builds.solution(), builds.binding(), {builds.fast().binary_hash});
    const bool reusable = campaign_ && (effort == Effort::screen || effort == Effort::full);
    if (reusable) record.reused_from = archive_.find_artefact(*campaign_, record.artefact, effort, incumbent.id);
    if (record.reused_from) {
      attempt = earlier(*record.reused_from);
      attempt.reused = true;
      record.judgement.verdict = attempt.verdict;
    } else {
      record.judgement = judge(candidate, incumbent, effort);
      if (calibration_) {
        verifier::hold_against_floor(record.judgement, *problem_, *calibration_, {!workshop_.hot(), false});
      }
      if (record.judgement.measurement) record.against = incumbent.id;
    }
  }
  record.seconds = campaign_ ? seconds_since_last() : 0;
  attempt.id = archive_.add_attempt(record);
  attempt.verdict = std::move(record.judgement.verdict);
  attempt.stages = record.judgement.stages;
  if (!attempt.reused) attempt.measurement = std::move(record.judgement.measurement);
  return attempt;
}

}  // namespace agent
