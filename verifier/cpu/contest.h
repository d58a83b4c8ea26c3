// Candidate and incumbent side by side in their cells on the cpu device.
#pragma once

#include <memory>
#include <variant>

#include "verifier/contest.h"
#include "verifier/cpu/checking.h"

namespace verifier::cpu {

// Both sides must outlive the contest. A Verdict when the candidate cannot be set up; throws core::SystemError when the
// incumbent cannot.
std::variant<Verdict, std::unique_ptr<Contest>> open_contest(ProblemAtHand& at_hand, const core::Bindings& axes,
                                                             Side& candidate, Side& incumbent);

}  // namespace verifier::cpu
