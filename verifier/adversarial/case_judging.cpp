#include "verifier/adversarial/case_judging.h"

#include <chrono>
#include <deque>

#include "core/error.h"

namespace verifier::adversarial {
namespace {
using Clock = std::chrono::steady_clock;
constexpr size_t kCompiledAhead = 3;  // cases

verdicts::Effort first_effort(const AdversarialCase& of, CaseEffort effort) {
  return of.honest() || effort == CaseEffort::full ? verdicts::Effort::full : verdicts::Effort::screen;
}

constexpr int kTries = 3;

class OneCase {
 public:
  OneCase(judging::Judge& judge, sandbox::CompilePool& pool, const AdversarialCase& of, const std::string& backend,
          CaseEffort effort, const Examine& examine)
      : judge_(judge),
        pool_(pool),
        of_(of),
        backend_(backend),
        effort_(effort),
        examine_(examine),
        first_(first_effort(of, effort)),
        builds_(of.solution, of.binding) {}

  void start() { builds_.start(pool_, first_); }
  const AdversarialCase& of() const { return of_; }

  verdicts::Judgement judge() {
    verdicts::Judgement judgement = with(first_);
    const bool refused = !verdicts::is_correct(judgement.verdict) && is_as_expected(of_, backend_, judgement);
    if (first_ != verdicts::Effort::full && !refused) judgement = with(verdicts::Effort::full);
    if (!needs_confirmation(judgement)) return judgement;
    const Clock::time_point begin = Clock::now();
    const auto examined = examine_ ? examine_(builds_) : nullptr;
    judgement = with(verdicts::Effort::confirm);
    if (examined && verdicts::is_correct(judgement.verdict)) examined(judgement);
    confirmed_s_ = std::chrono::duration<double>(Clock::now() - begin).count();
    return judgement;
  }
  double confirmed_s() const { return confirmed_s_; }

 private:
  // A dishonest case that got this far must be stopped there, and an honest one must pass.
  bool needs_confirmation(const verdicts::Judgement& judgement) const {
    if (!of_.honest()) return is_false_accept(of_, backend_, judgement) && judgement.measurement;
    return effort_ == CaseEffort::full && verdicts::is_correct(judgement.verdict);
  }

  verdicts::Judgement with(verdicts::Effort effort) {
    if (const sandbox::Rejected* rejected = builds_.wait(pool_, effort)) {
      return {verdicts::CompileFailed{rejected->reason, rejected->message, rejected->line}, {}, {}, 0};
    }
    try {
      return judge_with_retries(judge_, builds_, judge_.naive(), effort);
    } catch (const judging::DeviceSetAside&) {
      throw;
    } catch (const core::SystemError& error) {
      throw core::SystemError(of_.name + " cannot be judged: " + error.what());
    }
  }

  judging::Judge& judge_;
  sandbox::CompilePool& pool_;
  const AdversarialCase& of_;
  std::string backend_;
  CaseEffort effort_;
  const Examine& examine_;
  verdicts::Effort first_;
  double confirmed_s_ = 0;
  judging::Builds builds_;
};
}  // namespace

verdicts::Judgement judge_with_retries(judging::Judge& judge, const judging::Builds& candidate,
                                       const judging::Builds& incumbent, verdicts::Effort effort) {
  for (int failures = 1;; ++failures) {
    try {
      return judge.judge(candidate, incumbent, effort);
    } catch (const judging::DeviceSetAside&) {
      throw;
    } catch (const core::SystemError&) {
      if (failures == kTries) throw;
    }
  }
}

void judge_cases(judging::Judge& judge, sandbox::CompilePool& pool, const std::vector<const AdversarialCase*>& cases,
                 const std::string& backend, CaseEffort effort, const std::function<bool(const CaseResult&)>& listener,
                 const Examine& examine) {
  std::deque<OneCase> ahead;
  size_t next = 0;
  Clock::time_point begin = Clock::now();
  while (next < cases.size() || !ahead.empty()) {
    for (; next < cases.size() && ahead.size() < kCompiledAhead; ++next) {
      ahead.emplace_back(judge, pool, *cases[next], backend, effort, examine).start();
    }
    const verdicts::Judgement judgement = ahead.front().judge();
    const Clock::time_point end = Clock::now();
    const double judged_s = std::chrono::duration<double>(end - begin).count() - ahead.front().confirmed_s();
    if (!listener({ahead.front().of(), judgement, judged_s})) return;
    ahead.pop_front();
    begin = end;
  }
}

}  // namespace verifier::adversarial
