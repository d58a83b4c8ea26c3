// Resolves words of the command line in an archive: devices, attempts, solutions.
#pragma once

#include <optional>
#include <string>

#include "results/archive/recorder.h"

namespace agent::actions {

// Returns a device's name in the archive, or a backend ("cuda") for all its devices; "" for "". Accepts part of a
// device's name; "cuda:1" counts as "cuda". Throws core::InputError for an unknown name and suggests the nearest one.
std::string resolve_device(const results::archive::Reader& archive, const std::string& word);

struct ResolvedSolution {
  results::archive::SolutionRecord solution;
  std::optional<int64_t> attempt;  // the named one, or the solution's best; nullopt: never attempted
};
// `word`: the number of an attempt, the name of a solution, or a prefix of its hash. `where` names the word in
// messages. Throws core::InputError if none or several match.
ResolvedSolution resolve_solution(const results::archive::Reader& archive, const std::string& word,
                                  const std::string& where);

// `word` as the number of an attempt; nullopt if it is not a number.
std::optional<int64_t> attempt_number(const std::string& word);

}  // namespace agent::actions
