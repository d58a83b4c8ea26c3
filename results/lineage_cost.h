// What a solution cost: the replies of language models that led to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/archive.h"

namespace results {

struct Cost {
  int64_t replies = 0, tokens = 0;  // of all kinds, as counted by the provider or, where it does not, estimated
  double dollars = 0;               // of the replies whose price is known
  bool all_priced = true;           // false: dollars do without some of them
};

// Who proposed a solution, from what, and what that cost. A solution that several replies brought is the first one's.
struct Descent {
  std::string model;              // as it was asked for; empty: no model proposed it
  std::string task;               // "fresh", "improve", "repair", "cross"; empty likewise
  std::optional<int64_t> parent;  // the solution that it was made from
  int64_t ancestors = 0;          // parents, theirs, and so on
  Cost own;                       // the reply that brought it, whatever else that one brought
  Cost lineage;                   // that reply and those that brought its ancestors, each counted once
};

// Reads the archive, and every solution of it once.
class Descents {
 public:
  explicit Descents(const Archive& archive) : archive_(archive) {}

  Descent of(int64_t solution);

 private:
  struct Step {
    std::optional<int64_t> parent, reply;
    std::string model, task;
    Cost cost;  // of the reply
  };
  const Step& step(int64_t solution);

  const Archive& archive_;
  std::map<int64_t, Step> steps_;
};

}  // namespace results
