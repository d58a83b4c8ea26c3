#include "verifier/cpu/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.h"
#include "verifier/statistics.h"

namespace verifier::cpu {
namespace {
using sandbox::cpu::Order;
using Clock = std::chrono::steady_clock;
constexpr int kPings = 21;
constexpr double kSuspicious = 2;      // times the usual difference from the incumbent's outputs
constexpr double kLeastTime_us = 0.1;  // what is left of a sample after the empty request is never nothing

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// A side's failure: the candidate's is a verdict, the incumbent's is ours.
std::optional<Verdict> failed(const std::optional<CellFailure>& failure, const Where& where, bool candidate) {
  if (!failure) return std::nullopt;
  const Verdict verdict = verdict_of(*failure, where);
  if (candidate) return verdict;
  throw core::SystemError("the incumbent failed while it was timed: " + sentence_for_people(verdict));
}

// Median time of an empty request to this side.
std::optional<CellFailure> empty_request(Side& side, double& median_us) {
  std::vector<double> times;
  for (int i = 0; i < kPings; ++i) {
    double elapsed_us = 0;
    if (auto failure = side.cell.ping(elapsed_us)) return failure;
    times.push_back(elapsed_us);
  }
  median_us = median(times);
  return std::nullopt;
}
}  // namespace

bool Timing::enough(const WorkloadTiming& timing, double spent_s) {
  const auto pairs = static_cast<int>(timing.pairs.size());
  if (pairs >= most_pairs()) return true;
  if (effort_ == Effort::screen) {
    stopped_early_ = pairs >= 2 && estimate_speed_up(timing.pairs, keys_.next()).high < 0.5;
    return stopped_early_;
  }
  if (pairs < 7) return false;
  const SpeedUp so_far = estimate_speed_up(timing.pairs, keys_.next());
  if (effort_ == Effort::full && so_far.high < 0.9) {  // a clear loss needs no narrow interval
    stopped_early_ = true;
    return true;
  }
  if (pairs < settings_.least_pairs) return false;
  // A control only has to show that nothing is badly wrong.
  const double most_s = effort_ == Effort::control ? settings_.most_s / 4 : settings_.most_s;
  return spent_s > most_s || std::log(so_far.high / so_far.low) / 2 <= settings_.half_width;
}

std::variant<Verdict, WorkloadTiming> Timing::workload(const benchsuite::Workload& workload, Side& candidate,
                                                       Side& incumbent) {
  const benchsuite::Problem& problem = at_hand_.problem();
  const Where where{workload.name, sandbox::describe(workload.axes), "ordinary", "forward"};
  const std::vector<LentBuffer> inputs = make_inputs(problem, workload.axes);
  Rig candidate_rig(problem, workload.axes, inputs, candidate.cell, candidate.solution, candidate.binding);
  Rig incumbent_rig(problem, workload.axes, inputs, incumbent.cell, incumbent.solution, incumbent.binding);
  if (auto verdict = failed(candidate_rig.prepare(), where, true)) return *verdict;
  failed(incumbent_rig.prepare(), where, false);
  double candidate_empty_us = 0, incumbent_empty_us = 0;
  if (auto verdict = failed(empty_request(candidate, candidate_empty_us), where, true)) return *verdict;
  failed(empty_request(incumbent, incumbent_empty_us), where, false);

  WorkloadTiming timing;
  timing.workload = workload.name;
  const Clock::time_point begin = Clock::now();
  const double audits_before_ms = audit_ms_;
  int audits = 0;
  double usual = 0;  // difference of the two sides' outputs, at most, where the candidate was found right
  // The first pair finds caches and pages cold on both sides and is not counted, though it may be audited like any
  // other.
  for (int taken = 0; taken == 0 || !enough(timing, seconds_since(begin) - (audit_ms_ - audits_before_ms) / 1e3);
       ++taken) {
    at_hand_.fill(inputs, workload.axes, Distribution::ordinary, keys_.next());
    Pair pair{0, 0, keys_.coin()};
    for (const bool turn : {pair.candidate_first, !pair.candidate_first}) {
      Rig& rig = turn ? candidate_rig : incumbent_rig;
      if (auto verdict = failed(rig.launch(Order::forward, keys_.next(), turn ? pair.candidate_us : pair.incumbent_us),
                                where, turn)) {
        return *verdict;
      }
    }
    pair.candidate_us = std::max(pair.candidate_us - candidate_empty_us, kLeastTime_us);
    pair.incumbent_us = std::max(pair.incumbent_us - incumbent_empty_us, kLeastTime_us);
    if (taken > 0) timing.pairs.push_back(pair);
    // Which launches are audited cannot be known beforehand; at least the asked share of them is.
    const bool due = audits < std::ceil(settings_.audit_share * (taken + 1));
    const bool last_chance = taken % std::max(1, static_cast<int>(1 / settings_.audit_share)) == 0;
    // Work left out of some launches shows as a difference from what the other side gave.
    const double difference = candidate_rig.difference_from(incumbent_rig);
    const bool suspicious = !(difference <= kSuspicious * usual);
    if (keys_.unit() < settings_.audit_share || (due && last_chance) || suspicious) {
      const Clock::time_point audit_begin = Clock::now();
      double worst_ratio = 0;
      const Expected expected = at_hand_.expected(inputs, workload.axes, Distribution::ordinary);
      const std::optional<Verdict> wrong = candidate_rig.audit(expected, where, worst_ratio);
      audit_ms_ += seconds_since(audit_begin) * 1e3;
      ++audits;
      if (wrong) return *wrong;
      if (std::isfinite(difference)) usual = std::max(usual, difference);
    }
  }
  std::vector<double> candidate_us, incumbent_us;
  for (const Pair& pair : timing.pairs) {
    candidate_us.push_back(pair.candidate_us);
    incumbent_us.push_back(pair.incumbent_us);
  }
  timing.candidate_us = median(candidate_us);
  timing.incumbent_us = median(incumbent_us);
  timing.speed_up = estimate_speed_up(timing.pairs, keys_.next());
  return timing;
}

std::variant<Verdict, std::optional<Measurement>> Timing::measure(Side& candidate, Side& incumbent) {
  Measurement measurement;
  measurement.clock = "cpu-rough";
  std::vector<SpeedUp> parts;
  failed(incumbent.cell.await_loaded(), {}, false);
  for (const benchsuite::Workload& bench : at_hand_.problem().workloads) {
    if (bench.role != benchsuite::Role::bench || !bench.runs_on("cpu")) continue;
    auto timed = workload(bench, candidate, incumbent);
    if (auto* verdict = std::get_if<Verdict>(&timed)) return std::move(*verdict);
    parts.push_back(std::get<WorkloadTiming>(timed).speed_up);
    measurement.workloads.push_back(std::move(std::get<WorkloadTiming>(timed)));
  }
  if (parts.empty()) return std::optional<Measurement>();
  measurement.speed_up = combine(parts);
  measurement.outcome = decide(measurement.speed_up);
  measurement.stopped_early = stopped_early_;
  return std::optional(std::move(measurement));
}

}  // namespace verifier::cpu
