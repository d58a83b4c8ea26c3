// Judges cases of the adversarial suite, one after another.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "verifier/judge.h"
#include "verifier/suite.h"

namespace verifier {

// How much is spent on a dishonest case; an honest one is always judged in full.
enum class CaseEffort {
  least,  // a screening; in full only where that does not decide
  full,
};

struct CaseResult {
  const Case& of;
  const Judgement& judgement;
  double seconds;  // from the end of the case before, so that what was compiled ahead is not counted twice
};

// A judgement that our side fails at is tried again, twice, with what was lost replaced. Throws core::SystemError.
Judgement judge_patiently(Judge& judge, const Builds& candidate, const Builds& incumbent, Effort effort);

// Judges cases of one problem, in this order, compiling ahead. Tells the listener of each, and ends early when it
// returns false. Who wins where they must not is judged again in fresh processes, as every win is before it counts. A
// failure of our own is tried again as above. Throws what Judge::judge() throws.
void judge_cases(Judge& judge, sandbox::CompilePool& pool, const std::vector<const Case*>& cases,
                 const std::string& backend, CaseEffort effort, const std::function<bool(const CaseResult&)>& listener);

}  // namespace verifier
