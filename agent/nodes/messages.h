// What a campaign and its nodes say to each other: a line of JSON each, on the standard input and output of a node.
//
// The node begins with its greeting: {"protocol", "version", "device", "slots", "environment", "text"}. Then the
// campaign sends {"problem": ...} before the first candidate of a search, {"prepare": id, "effort"} for what may be
// compiled ahead, and {"judge": number, "candidate": id, "incumbent": id or null for naive, "effort"}; {"candidate":
// ...} goes before the first mention of an id. {"visit": number, "problem", "candidate", "incumbent", "effort"} asks
// for one judgement of another search, with all that it needs; the node's own search waits for it. The node answers
// {"result": number, "attempt": ...}, {"visited": number, "attempt": ...}, with its "health" where naive was timed
// against itself, and says {"trouble": text} for a failure of its side that it retried, {"error": text} for one that
// ends it ("of_input": the problem is to blame), and {"alive": true} every few seconds.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "agent/search/attempt_runner.h"
#include "core/strict_json.h"
#include "results/archive/records.h"

namespace agent::nodes {

inline constexpr int kProtocol = 2;
inline constexpr size_t kMostLineBytes = size_t{64} << 20;
inline constexpr std::chrono::seconds kSignOfLife{5};    // a node says something at least so often
inline constexpr std::chrono::seconds kMostSilence{60};  // after which it counts as lost
inline constexpr std::string_view kNonsense = "it said what is no message: ";

// One line. Throws core::InputError for what is no object.
core::Json message_of(const std::string& line);
std::string line_of(const core::Json& message);

// The problem's files as text. Data files are not sent: a node reads them from the same folder, on a file system that
// all share. Throws core::InputError where they are missing, or other ones.
core::Json to_json(const benchsuite::Problem& problem);
benchsuite::Problem problem_from_json(const core::JsonView& json);

core::Json to_json(const search::Candidate& candidate);

// What a judgement found out; ids and times belong to the archive of the side that has it.
core::Json to_json(const results::archive::NewAttempt& attempt);
results::archive::NewAttempt attempt_from_json(const core::JsonView& json);

}  // namespace agent::nodes
