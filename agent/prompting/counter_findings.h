// Hardware counters as sentences.
#pragma once

#include <string>
#include <vector>

#include "agent/prompting/advice.h"
#include "verifier/verdicts/counters.h"

namespace agent::prompting {

// One observation ("41 % of the passes through shared memory are bank conflicts"), the bottleneck it indicates, and
// what may help, the best first.
struct CounterFinding {
  Bottleneck of;
  std::string sentence;
  std::vector<Advice> advice;
  bool of_the_code = false;  // holds at other shapes, too: it is about how the code accesses memory, or branches
};

// The launch that takes the longest; null if there is none.
const verifier::verdicts::Counters* longest_launch(const std::vector<verifier::verdicts::Counters>& launches);

// Observations about the longest launch, the most significant first. Empty if nothing is significant.
std::vector<CounterFinding> findings_in(const std::vector<verifier::verdicts::Counters>& launches);

}  // namespace agent::prompting
