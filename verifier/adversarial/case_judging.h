// Judges cases of the adversarial suite, one after another.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "verifier/adversarial/adversarial_case.h"
#include "verifier/judging/judge.h"

namespace verifier::adversarial {

// How much is spent on a dishonest case; an honest one is always judged in full.
enum class CaseEffort {
  least,  // a screening; in full only where that does not decide
  full,
};

struct CaseResult {
  const AdversarialCase& of;
  const verdicts::Judgement& judgement;
  double seconds;  // from the end of the case before, so that what was compiled ahead is not counted twice
};

// A judgement that our side fails at is tried again, twice, with what was lost replaced. Throws core::SystemError.
verdicts::Judgement judge_with_retries(judging::Judge& judge, const judging::Builds& candidate,
                                       const judging::Builds& incumbent, verdicts::Effort effort);

// Judges cases of one problem, in this order, compiling ahead. Tells the listener of each, and ends early when it
// returns false. Who wins where they must not is judged again in fresh processes, as every win is before it counts. A
// failure of our own is tried again as above. Throws what Judge::judge() throws.
void judge_cases(judging::Judge& judge, sandbox::CompilePool& pool, const std::vector<const AdversarialCase*>& cases,
                 const std::string& backend, CaseEffort effort, const std::function<bool(const CaseResult&)>& listener);

}  // namespace verifier::adversarial
