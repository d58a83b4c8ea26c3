// Whether a node's device can be trusted with further attempts.
#pragma once

#include <string>

#include "core/strict_json.h"
#include "verifier/verdicts/judgement.h"

namespace agent::nodes {

// A reason to judge again and, where it comes twice in a row, to set the node aside; empty: there is none. `health`: of
// its device (Judge::health). `control`: naive timed against itself; it counts on a GPU alone, since a shared processor
// is noisy. Throws core::InputError if `health` has other fields or types.
std::string why_unfit(const core::JsonView& health, const verifier::verdicts::Judgement& control, bool on_gpu);

}  // namespace agent::nodes
