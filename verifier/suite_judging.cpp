#include "verifier/suite_judging.h"

#include <chrono>
#include <deque>

#include "core/error.h"

namespace verifier {
namespace {
using Clock = std::chrono::steady_clock;
constexpr size_t kCompiledAhead = 3;  // cases

Effort first_effort(const Case& of, CaseEffort effort) {
  return of.honest() || effort == CaseEffort::full ? Effort::full : Effort::screen;
}

constexpr int kTries = 3;

class OneCase {
 public:
  OneCase(Judge& judge, sandbox::CompilePool& pool, const Case& of, const std::string& backend, CaseEffort effort)
      : judge_(judge),
        pool_(pool),
        of_(of),
        backend_(backend),
        first_(first_effort(of, effort)),
        builds_(of.solution, of.binding) {}

  void start() { builds_.start(pool_, first_); }
  const Case& of() const { return of_; }

  Judgement judge() {
    Judgement judgement = with(first_);
    const bool refused = !is_correct(judgement.verdict) && is_as_expected(of_, backend_, judgement);
    if (first_ != Effort::full && !refused) judgement = with(Effort::full);
    return is_false_accept(of_, backend_, judgement) && judgement.measurement ? with(Effort::confirm) : judgement;
  }

 private:
  Judgement with(Effort effort) {
    if (const sandbox::Rejected* rejected = builds_.wait(pool_, effort)) {
      return {CompileFailed{rejected->reason, rejected->message, rejected->line}, {}, {}, 0};
    }
    try {
      return judge_patiently(judge_, builds_, judge_.naive(), effort);
    } catch (const DeviceSetAside&) {
      throw;
    } catch (const core::SystemError& error) {
      throw core::SystemError(of_.name + " cannot be judged: " + error.what());
    }
  }

  Judge& judge_;
  sandbox::CompilePool& pool_;
  const Case& of_;
  std::string backend_;
  Effort first_;
  Builds builds_;
};
}  // namespace

Judgement judge_patiently(Judge& judge, const Builds& candidate, const Builds& incumbent, Effort effort) {
  for (int failures = 1;; ++failures) {
    try {
      return judge.judge(candidate, incumbent, effort);
    } catch (const DeviceSetAside&) {
      throw;
    } catch (const core::SystemError&) {
      if (failures == kTries) throw;
    }
  }
}

void judge_cases(Judge& judge, sandbox::CompilePool& pool, const std::vector<const Case*>& cases,
                 const std::string& backend, CaseEffort effort,
                 const std::function<bool(const CaseResult&)>& listener) {
  std::deque<OneCase> ahead;
  size_t next = 0;
  Clock::time_point begin = Clock::now();
  while (next < cases.size() || !ahead.empty()) {
    for (; next < cases.size() && ahead.size() < kCompiledAhead; ++next) {
      ahead.emplace_back(judge, pool, *cases[next], backend, effort).start();
    }
    const Judgement judgement = ahead.front().judge();
    const Clock::time_point end = Clock::now();
    if (!listener({ahead.front().of(), judgement, std::chrono::duration<double>(end - begin).count()})) return;
    ahead.pop_front();
    begin = end;
  }
}

}  // namespace verifier
