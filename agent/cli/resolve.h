// What words on the command line mean in an archive: a device, an attempt, a solution.
#pragma once

#include <optional>
#include <string>

#include "results/archive/recorder.h"

namespace agent::cli {

// A device as the archive has it, or a backend ("cuda") for all of its kind; empty for empty. A part of one device's
// name will do, and of "cuda:1" the backend counts. Throws core::InputError, with the nearest name.
std::string resolve_device(const results::archive::Reader& archive, const std::string& word);

struct ResolvedSolution {
  results::archive::SolutionRecord solution;
  std::optional<int64_t> attempt;  // the one that was named, or the solution's best; none: it was never tried
};
// `word` is the number of an attempt, the name of a solution, or how its hash begins. `where` names it in messages.
// Throws core::InputError when there is none, or several fit.
ResolvedSolution resolve_solution(const results::archive::Reader& archive, const std::string& word,
                                  const std::string& where);

// The number of an attempt, when `word` is one.
std::optional<int64_t> attempt_number(const std::string& word);

}  // namespace agent::cli
