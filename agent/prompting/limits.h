// What limits a correct solution, judged by its times, its resources and what it is made of.
#pragma once

#include <string>
#include <vector>

#include "agent/prompting/code_facts.h"
#include "agent/prompting/diagnosis.h"

namespace agent::prompting {

struct Limit {
  std::vector<Bottleneck> of;  // the worst first
  std::string sentence;        // what it is, and what to do about it
};

// `code`: at the first bench workload. Exactly one limit, the most telling that the facts allow.
Limit limit_on_gpu(const AttemptFacts& facts, const CodeFacts& code, const benchsuite::Problem& problem);
Limit limit_on_cpu(const AttemptFacts& facts, const CodeFacts& code, const benchsuite::Problem& problem);

// "134.1 us"
std::string time_words(double us);
std::string percent(double share);

}  // namespace agent::prompting
