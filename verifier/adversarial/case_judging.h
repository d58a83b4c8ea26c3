// Judges cases of the adversarial suite one by one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "verifier/adversarial/adversarial_case.h"
#include "verifier/judging/judge.h"

namespace verifier::adversarial {

// Effort for dishonest cases; honest ones are always judged in full.
enum class CaseEffort {
  least,  // a screening; in full only if that does not decide
  full,
};

struct CaseResult {
  const AdversarialCase& of;
  const verdicts::Judgement& judgement;
  double seconds;  // since the end of the previous case, so that compiling ahead is not counted twice
};

// Judges, and retries twice when our side fails, with replaced workers. Throws core::SystemError.
verdicts::Judgement judge_with_retries(judging::Judge& judge, const judging::Builds& candidate,
                                       const judging::Builds& incumbent, verdicts::Effort effort);

// Begins to look at a candidate beside its confirmation. The result is called with the confirmation's judgement, where
// that is correct, and may change it.
using Examine = std::function<std::function<void(verdicts::Judgement&)>(const judging::Builds&)>;

// Judges cases of one problem in this order, compiling ahead. Calls the listener after each; ends early when it returns
// false. Judges a forbidden win again in fresh processes, as for every win, with `examine`. Retries our failures as
// above. Throws the exceptions of Judge::judge().
void judge_cases(judging::Judge& judge, sandbox::CompilePool& pool, const std::vector<const AdversarialCase*>& cases,
                 const std::string& backend, CaseEffort effort, const std::function<bool(const CaseResult&)>& listener,
                 const Examine& examine = {});

}  // namespace verifier::adversarial
