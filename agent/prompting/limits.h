// Finds what limits a correct solution, from its times, resources and code.
#pragma once

#include <string>
#include <vector>

#include "agent/prompting/code_facts.h"
#include "agent/prompting/diagnosis.h"

namespace agent::prompting {

struct Limit {
  std::vector<Bottleneck> of;  // the worst first
  std::string sentence;        // the limit, and a remedy
};

// `code`: at the first bench workload. Returns the most significant limit that the facts support.
Limit limit_on_gpu(const AttemptFacts& facts, const CodeFacts& code, const benchsuite::Problem& problem);
Limit limit_on_cpu(const AttemptFacts& facts, const CodeFacts& code, const benchsuite::Problem& problem);

// "134.1 us"
std::string time_words(double us);
std::string percent(double share);

}  // namespace agent::prompting
