// Requests to models, in words and as JSON.
//
// Exchange   exchange (its number in the archive), number (among its problem's), campaign, problem, model, task, asked,
//            arrived, answered, outcome (a sentence), good (a solution of it is correct), brought [{solution, hash,
//            outcome, verdict_name, attempt, confirmed}]
// AdviceUse  advice (null: prompts that advised nothing), given, solutions, correct, faster, mean_gain
// ModelShare model, first, gain, curiosity, won, factor
// CardUse    card, sent, solutions, correct, won, mean_gain
#pragma once

#include <string>

#include "core/strict_json.h"
#include "results/archive/exchanges.h"

namespace results::view {

// "correct, 2.11x over naive, confirmed", or the reason for its refusal.
std::string outcome_in_words(const archive::Brought& brought);

// "unanswered: REASON", "unusable: REASON", or the outcome of each solution. Contains untrusted text.
std::string outcome_in_words(const archive::Exchange& exchange);

core::Json json_of(const archive::Exchange& exchange);
core::Json json_of(const archive::AdviceUse& use);
core::Json json_of(const archive::CardUse& use);
core::Json json_of(const archive::ModelShare& share);

}  // namespace results::view
