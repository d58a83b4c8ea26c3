// Candidate and incumbent side by side in their cells on the cpu device.
#pragma once

#include <memory>
#include <variant>

#include "verifier/devices/cpu/checking.h"
#include "verifier/judging/paired_launches.h"

namespace verifier::devices::cpu {

// Both sides must outlive the launches. A Verdict when the candidate cannot be set up; throws core::SystemError when
// the incumbent cannot.
std::variant<verdicts::Verdict, std::unique_ptr<judging::PairedLaunches>> open_paired_launches(
    Oracle& oracle, const core::Bindings& axes, Contender& candidate, Contender& incumbent);

}  // namespace verifier::devices::cpu
