// The descent of a solution, its cost, and the results of its ancestors and points.
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
  int64_t replies = 0, tokens = 0;  // all kinds, as counted by the provider, else estimated
  double dollars = 0;               // for replies with a known price
  bool all_priced = true;           // false: dollars leave some out
};

// A solution's proposer, parent and cost. If several replies proposed it, the first one counts.
struct Descent {
  std::string model;              // as requested; empty: not proposed by a model
  std::string task;               // "fresh", "improve", "repair", "cross"; empty: no model
  std::optional<int64_t> parent;  // the solution it was made from
  int64_t ancestors = 0;          // number of parents, their parents and so on
  Cost own;                       // the whole reply that proposed it
  Cost lineage;                   // the replies that proposed it and its ancestors, each counted once
};

// Computes descents; reads each solution of the archive once.
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

// A solution, its parent and so on, up to one without a parent. Throws core::SystemError if there is no such solution.
std::vector<LineageStep> lineage(const Reader& archive, int64_t solution);

// Stands for every version of its problem, the best first, confirmed ones before others.
std::vector<Stand> stands_of(const Reader& archive, int64_t solution);
// The attempt of the first stand, else the newest attempt; nullopt: never attempted.
std::optional<int64_t> best_attempt(const Reader& archive, int64_t solution);

SolutionRecord solution_of_attempt(const Reader& archive,
                                   int64_t attempt);  // throws core::InputError: no such attempt
// The solution that an attempt was timed against; nullopt: it was not timed.
std::optional<SolutionRecord> incumbent_of_attempt(const Reader& archive, int64_t attempt);
// Number of attempts of a campaign by verdict.
std::map<std::string, int64_t> verdicts_of_campaign(const Reader& archive, int64_t campaign);
// Up to `limit` attempts of a solution, the newest first.
std::vector<int64_t> newest_attempts(const Reader& archive, int64_t solution, int64_t limit);

}  // namespace results::archive
