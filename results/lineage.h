// Where a solution comes from, and how its ancestors and its points stand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/archive.h"
#include "results/lineage_cost.h"

namespace results {

// A solution's best point over naive on one device.
struct Stand {
  std::string problem, device;
  bool confirmed = false;
  verifier::SpeedUp speed_up;
  int64_t attempt = 0;
  sandbox::TunableBinding binding;
};

struct LineageStep {
  SolutionRecord solution;
  Descent descent;
  std::vector<Stand> stands;
};

// A solution and what it was made from: itself first, then its parent, up to one that was made from nothing else.
// Throws core::SystemError when there is no such solution.
std::vector<LineageStep> lineage(const Archive& archive, int64_t solution);

// The best first, confirmed ones before others, of every version of its problem.
std::vector<Stand> stands_of(const Archive& archive, int64_t solution);
// The attempt at its best point: of the first stand, else its newest attempt; none: it was never tried.
std::optional<int64_t> best_attempt(const Archive& archive, int64_t solution);

SolutionRecord solution_of_attempt(const Archive& archive,
                                   int64_t attempt);  // throws core::InputError: no such attempt
// problem.json as the attempt was judged by. Throws core::InputError likewise.
std::string problem_json_of(const Archive& archive, int64_t attempt);
// How many attempts of a campaign came to which verdict.
std::map<std::string, int64_t> verdicts_of_campaign(const Archive& archive, int64_t campaign);
// The newest attempts of a solution, the newest first, and no more than this many.
std::vector<int64_t> newest_attempts(const Archive& archive, int64_t solution, int64_t limit);

}  // namespace results
