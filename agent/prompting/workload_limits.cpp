#include <algorithm>
#include <cmath>

#include "agent/prompting/limits.h"
#include "verifier/verdicts/bound.h"

namespace agent::prompting {
namespace {
using verifier::verdicts::Counters;
using verifier::verdicts::WorkloadTiming;

constexpr double kAtLimit = 0.85;         // of a unit's peak, or of the bound
constexpr double kMultiprocessors = 0.9;  // the same for multiprocessors as a whole
constexpr double kNearBound = 0.7;        // of the bound: above it, launches matter little
constexpr double kLaunches = 3;           // launch floors: below this time, launches are a large part of it
constexpr double kFewBlocks = 0.8;        // for each multiprocessor
constexpr double kMoreThanNeeded = 1.3;   // busy over needed: above it, a unit does more than the problem needs
constexpr double kMostOfTheTime = 0.7;    // of all launches: above it, the longest one speaks for all

// A unit that the counters show at its limit.
struct BusyUnit {
  double share = 0;
  bool arithmetic = false;
  std::string_view name, of;  // "the tensor cores are busy ... of the time"
};

std::optional<BusyUnit> busy_unit(const std::vector<Counters>& launches) {
  const Counters* longest = longest_launch(launches);
  if (longest == nullptr) return std::nullopt;
  double all = 0;
  for (const Counters& launch : launches) all += launch.time.value_or(0);
  if (longest->time.value_or(0) < kMostOfTheTime * all) return std::nullopt;
  if (longest->tensor.value_or(0) >= kAtLimit)
    return BusyUnit{*longest->tensor, true, "the tensor cores are busy ", "the time"};
  if (longest->dram.value_or(0) >= kAtLimit)
    return BusyUnit{*longest->dram, false, "the DRAM is busy at ", "its bandwidth"};
  if (longest->compute.value_or(0) >= kMultiprocessors) {
    return BusyUnit{*longest->compute, true, "the multiprocessors are busy at ", "their peak"};
  }
  return std::nullopt;
}

// The workload at which the counters were taken. Earlier versions did not record it: they took the largest one.
std::string counted_workload(const verifier::verdicts::Measurement& measurement) {
  if (measurement.counters.empty()) return "";
  if (!measurement.counters.front().workload.empty()) return measurement.counters.front().workload;
  return std::ranges::max_element(measurement.workloads, {}, &WorkloadTiming::candidate_us)->workload;
}

void judge_by_unit(WorkloadLimit& limit, const BusyUnit& unit) {
  const std::optional<double> share = limit.timing->share_of_bound();
  const std::string busy =
      std::string(unit.name) + percent(unit.share) + " of " + std::string(unit.of) + ", as counted";
  if (share && unit.share > kMoreThanNeeded * *share) {
    limit.binding = unit.arithmetic ? Binding::more_arithmetic : Binding::more_bytes;
    limit.words = busy + ", with more than the problem needs";
    return;
  }
  limit.binding = unit.arithmetic ? Binding::arithmetic : Binding::memory;
  limit.words = std::string(unit.arithmetic ? "arithmetic" : "memory") + " is at its limit: " + busy;
}

void judge_by_time(WorkloadLimit& limit, const AttemptFacts& facts) {
  const std::optional<double> share = limit.timing->share_of_bound();
  const double floor_us = facts.calibration ? facts.calibration->launch_floor_us : 0;
  const auto launches = static_cast<double>(std::max<size_t>(1, limit.launches.size()));
  const auto main = std::ranges::max_element(limit.launches, {}, &CodeFacts::Launch::threads);
  const double blocks = main == limit.launches.end() ? 0 : main->blocks();
  const auto multiprocessors = static_cast<double>(facts.calibration ? facts.calibration->multiprocessors : 0);
  if (share && *share >= kAtLimit) {
    const bool arithmetic = limit.by_compute.value_or(false);
    limit.binding = arithmetic ? Binding::arithmetic : Binding::memory;
    limit.words = std::string(arithmetic ? "arithmetic" : "memory") + " is at its limit";
  } else if (limit.timing->candidate_us < kLaunches * launches * floor_us && share.value_or(0) < kNearBound) {
    limit.binding = Binding::launch_floor;
    limit.words = "the launch floor: an empty launch takes " + time_words(floor_us);
    if (launches > 1) limit.words += ", and it has " + std::to_string(limit.launches.size());
  } else if (blocks > 0 && blocks < kFewBlocks * multiprocessors) {
    limit.binding = Binding::few_blocks;
    limit.words = "too few blocks: " + std::to_string(std::llround(blocks)) + " for " +
                  std::to_string(std::llround(multiprocessors)) + " multiprocessors";
  } else if (share) {
    limit.binding = Binding::latency;
    limit.words = "nothing is at its limit: it waits";
  }
}

// How long the workload would take at its limit.
double time_at_limit(const WorkloadLimit& limit, const std::optional<BusyUnit>& unit, const AttemptFacts& facts) {
  const double time = limit.timing->candidate_us;
  if (limit.at_limit() && unit) return time * unit->share;
  if (!limit.timing->bound_us) return time;
  return std::max(*limit.timing->bound_us, facts.calibration ? facts.calibration->launch_floor_us : 0);
}
}  // namespace

std::vector<WorkloadLimit> workload_limits(const AttemptFacts& facts, const benchsuite::Problem& problem) {
  std::vector<WorkloadLimit> limits;
  if (!facts.measurement) return limits;
  const verifier::verdicts::Measurement& measured = *facts.measurement;
  const std::string counted = measured.workloads.empty() ? "" : counted_workload(measured);
  double weights = 0;
  for (const WorkloadTiming& timing : measured.workloads) weights += timing.weight;
  for (const WorkloadTiming& timing : measured.workloads) {
    WorkloadLimit& limit = limits.emplace_back();
    limit.timing = &timing;
    limit.counted = timing.workload == counted;
    const auto workload = std::ranges::find(problem.workloads, timing.workload, &benchsuite::Workload::name);
    if (workload != problem.workloads.end()) {
      limit.workload = &*workload;
      limit.launches = launches_at(facts.solution, facts.binding, workload->axes, problem);
      if (facts.calibration) {
        limit.by_compute = verifier::verdicts::bound_of(problem, workload->axes, *facts.calibration).by_compute;
      }
    }
    const std::optional<BusyUnit> unit = limit.counted ? busy_unit(measured.counters) : std::nullopt;
    unit ? judge_by_unit(limit, *unit) : judge_by_time(limit, facts);
    const double at_limit = time_at_limit(limit, unit, facts);
    if (at_limit > 0 && timing.candidate_us > at_limit) {
      limit.score_gain = std::pow(timing.candidate_us / at_limit, timing.weight / weights);
    }
  }
  std::ranges::stable_sort(limits, [](const WorkloadLimit& a, const WorkloadLimit& b) {
    if (a.score_gain != b.score_gain) return a.score_gain > b.score_gain;
    if (a.timing->weight != b.timing->weight) return a.timing->weight > b.timing->weight;
    return a.timing->candidate_us > b.timing->candidate_us;
  });
  return limits;
}

}  // namespace agent::prompting
