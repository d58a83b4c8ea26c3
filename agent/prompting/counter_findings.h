// Hardware counters as sentences.
#pragma once

#include <string>
#include <vector>

#include "agent/prompting/bottleneck.h"
#include "verifier/verdicts/counters.h"

namespace agent::prompting {

// One observation ("41 % of the passes through shared memory are bank conflicts") and the bottleneck it indicates.
struct CounterFinding {
  Bottleneck of;
  std::string sentence;
};

// Observations about the longest launch, the most significant first. Empty if nothing is significant.
std::vector<CounterFinding> findings_in(const std::vector<verifier::verdicts::Counters>& launches);

}  // namespace agent::prompting
