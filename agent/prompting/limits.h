// Finds what limits a correct solution, from its times, counters, resources and code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/prompting/advice.h"
#include "agent/prompting/code_facts.h"
#include "agent/prompting/diagnosis.h"

namespace agent::prompting {

// What binds a solution at one timed workload.
enum class Binding {
  memory,           // at its limit
  arithmetic,       // at its limit
  launch_floor,     // launches take a large part of the time
  few_blocks,       // multiprocessors stay idle
  more_bytes,       // the memory is busy with more than the problem needs
  more_arithmetic,  // the same of arithmetic and other instructions
  latency,          // no unit is at its limit
  unknown,
};

struct WorkloadLimit {
  const verifier::verdicts::WorkloadTiming* timing = nullptr;
  const benchsuite::Workload* workload = nullptr;  // null: the problem has it no more
  Binding binding = Binding::unknown;
  std::string words;                        // "too few blocks: 64 for 132 multiprocessors"; empty: unknown
  std::optional<bool> by_compute;           // the bound is arithmetic, not memory
  double score_gain = 1;                    // the score would grow by this factor if this workload ran at its limit
  bool counted = false;                     // the measurement's counters were taken here
  std::vector<CodeFacts::Launch> launches;  // empty if the plan does not fit

  bool at_limit() const { return binding == Binding::memory || binding == Binding::arithmetic; }
  bool has_busy_unit() const {
    return at_limit() || binding == Binding::more_bytes || binding == Binding::more_arithmetic;
  }
};

// Every timed workload, the one that costs the score most first: by its weight and its distance from the bound; where
// no bound is known, by weight, then time. The score is the geometric mean of speed-ups by weight.
std::vector<WorkloadLimit> workload_limits(const AttemptFacts& facts, const benchsuite::Problem& problem);

struct Limit {
  std::vector<Bottleneck> of;           // the worst first
  std::string sentence;                 // what was seen
  std::optional<AdvisedChange> change;  // absent: the source follows all that is known to help
};

// At `focus`, null without times: the most significant limit that the facts support. `code`: at that workload.
Limit limit_on_gpu(const AttemptFacts& facts, const WorkloadLimit* focus, const Situation& situation);
Limit limit_on_cpu(const WorkloadLimit* focus, const Situation& situation);

// "134.1 us"
std::string time_words(double us);
std::string percent(double share);

}  // namespace agent::prompting
