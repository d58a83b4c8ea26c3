// Whether a node's device can be trusted with further attempts.
#pragma once

#include <string>

#include "core/strict_json.h"
#include "verifier/verdicts/judgement.h"

namespace agent::nodes {

// A reason to judge again and, where it comes twice in a row, to set the node aside; empty: there is none. `health`: of
// its device (Judge::health). `control`: naive timed against itself, which counts on a GPU alone: a processor that is
// shared is noisy. Throws core::InputError for what is no health.
std::string why_unfit(const core::JsonView& health, const verifier::verdicts::Judgement& control, bool on_gpu);

}  // namespace agent::nodes
