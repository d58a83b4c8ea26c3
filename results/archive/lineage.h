// Where a solution comes from, what it cost, and how its ancestors and its points stand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/archive/recorder.h"

namespace results::archive {

struct Cost {
  int64_t replies = 0, tokens = 0;  // of all kinds, as counted by the provider or, where it does not, estimated
  double dollars = 0;               // of the replies whose price is known
  bool all_priced = true;           // false: dollars do without some of them
};

// Who proposed a solution, from what, and what that cost. A solution that several replies brought is the first one's.
struct Descent {
  std::string model;              // as it was asked for; empty: no model proposed it
  std::string task;               // "fresh", "improve", "repair", "cross"; empty: no model
  std::optional<int64_t> parent;  // the solution that it was made from
  int64_t ancestors = 0;          // parents, theirs, and so on
  Cost own;                       // the reply that brought it, whatever else that one brought
  Cost lineage;                   // that reply and those that brought its ancestors, each counted once
};

// Reads the archive, and every solution of it once.
class Descents {
 public:
  explicit Descents(const Reader& archive) : archive_(archive) {}

  Descent of(int64_t solution);

 private:
  struct Step {
    std::optional<int64_t> parent, reply;
    std::string model, task;
    Cost cost;  // of the reply
  };
  const Step& step(int64_t solution);

  const Reader& archive_;
  std::map<int64_t, Step> steps_;
};

// A solution's best point over naive on one device.
struct Stand {
  std::string problem, device;
  bool confirmed = false;
  verifier::statistics::SpeedUp speed_up;
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
std::vector<LineageStep> lineage(const Reader& archive, int64_t solution);

// The best first, confirmed ones before others, of every version of its problem.
std::vector<Stand> stands_of(const Reader& archive, int64_t solution);
// The attempt at its best point: of the first stand, else its newest attempt; none: it was never tried.
std::optional<int64_t> best_attempt(const Reader& archive, int64_t solution);

SolutionRecord solution_of_attempt(const Reader& archive,
                                   int64_t attempt);  // throws core::InputError: no such attempt
// The problem.json that the attempt was judged by. Throws core::InputError when there is no such attempt.
std::string problem_json_of(const Reader& archive, int64_t attempt);
// How many attempts of a campaign came to which verdict.
std::map<std::string, int64_t> verdicts_of_campaign(const Reader& archive, int64_t campaign);
// The newest attempts of a solution, the newest first, and no more than this many.
std::vector<int64_t> newest_attempts(const Reader& archive, int64_t solution, int64_t limit);

}  // namespace results::archive
