#include "verifier/judging/paired_timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/error.h"
#include "verifier/statistics/statistics.h"

namespace verifier::judging {
namespace {
using Clock = std::chrono::steady_clock;
constexpr double kFar = 2;      // the same for a first look
constexpr double kClear = 1.1;  // a speed-up beyond it, either way, with its whole interval
// Enough pairs for a confirmation with slow launches and a candidate that is far ahead: the true median lies between
// the smallest and the largest of nine ratios with a probability of 99.6 %.
constexpr int kPairsOfSlowLaunches = 9;
constexpr int kPairsBetweenLooks = 8;  // at the interval: each look is a chance to end at a lucky moment
constexpr double kSuspicious = 2;      // times the usual difference from the incumbent's outputs

constexpr double kLaunchFloor_us = 2, kLeastGain_us = 0.1, kLeastGainShare = 0.02;

// Times below two microseconds are mostly the launch's own: a small difference between them is none.
void respect_launch_floor(verdicts::WorkloadTiming& timing) {
  const double larger = std::max(timing.candidate_us, timing.incumbent_us);
  const double gain = std::fabs(timing.candidate_us - timing.incumbent_us);
  if (larger >= kLaunchFloor_us || gain >= std::max(kLeastGain_us, kLeastGainShare * larger)) return;
  timing.speed_up.low = std::min(timing.speed_up.low, 1.0);
  timing.speed_up.high = std::max(timing.speed_up.high, 1.0);
}

// The slot whose difference is largest; one that is not a number counts as infinite.
size_t farthest(const std::vector<double>& differences) {
  size_t slot = 0;
  for (size_t i = 1; i < differences.size() && !std::isnan(differences[slot]); ++i) {
    if (!(differences[i] <= differences[slot])) slot = i;
  }
  return slot;
}

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }
}  // namespace

bool PairedTiming::enough(const verdicts::WorkloadTiming& timing, double spent_s) {
  const auto pairs = static_cast<int>(timing.pairs.size());
  if (pairs >= most_pairs()) return true;
  if (effort_ == verdicts::Effort::screen) {
    if (pairs < 2) return false;
    const statistics::SpeedUp so_far = statistics::estimate_speed_up(timing.pairs);
    stopped_early_ = so_far.high < 1 / kFar || (pairs >= settings_.clear_pairs && so_far.low > kFar);
    return stopped_early_;
  }
  if (pairs < settings_.clear_pairs) return false;
  const statistics::SpeedUp so_far = statistics::estimate_speed_up(timing.pairs);
  // A clear loss needs no narrow interval; nor does a clear win, which is timed again to be confirmed.
  if (effort_ == verdicts::Effort::full && (so_far.high < 1 / kClear || so_far.low > kClear)) {
    stopped_early_ = true;
    return true;
  }
  if (pairs < settings_.least_pairs) {
    return effort_ == verdicts::Effort::confirm && pairs == kPairsOfSlowLaunches && spent_s > settings_.most_s / 2 &&
           so_far.low > kFar;
  }
  // A control only has to show that nothing is badly wrong.
  if (spent_s > (effort_ == verdicts::Effort::control ? settings_.most_s / 4 : settings_.most_s)) return true;
  if ((pairs - settings_.least_pairs) % kPairsBetweenLooks != 0) return false;
  const double half_width = effort_ == verdicts::Effort::full ? settings_.half_width : settings_.confirm_half_width;
  return std::log(so_far.high / so_far.low) / 2 <= half_width;
}

std::optional<verdicts::Verdict> PairedTiming::audit(const verdicts::Where& where, PairedLaunches& launches,
                                                     size_t slot) {
  const Clock::time_point begin = Clock::now();
  std::optional<verdicts::Verdict> wrong = launches.audit(where, slot);
  audit_ms_ += seconds_since(begin) * 1e3;
  return wrong;
}

// Before which pairs of a confirmation the candidate meets other inputs than ordinary ones, each kind once, at the very
// shape that it is timed at: who takes a short cut there that ordinary inputs allow must not know when.
std::multimap<int, draws::Distribution> PairedTiming::draw_surprises() {
  std::multimap<int, draws::Distribution> drawn;
  if (effort_ != verdicts::Effort::confirm) return drawn;
  for (const draws::Distribution distribution : draws::adversarial_for(problem_)) {
    if (draws::is_disguise(distribution)) continue;  // as every pair may have
    drawn.emplace(static_cast<int>(keys_.below(static_cast<uint64_t>(settings_.clear_pairs))), distribution);
  }
  return drawn;
}

// A launch like any other, but for its inputs; its time is not counted.
std::optional<verdicts::Verdict> PairedTiming::surprise(const verdicts::Where& where, PairedLaunches& launches,
                                                        draws::Distribution distribution) {
  verdicts::Where here = where;
  here.distribution = std::string(draws::name_of(distribution));
  launches.draw(keys_.next(), distribution);
  auto launched = launches.launch(Side::candidate, keys_.next());
  if (const auto* failure = std::get_if<ProcessFailure>(&launched)) return verdict_of(*failure, here);
  return audit(here, launches, keys_.below(launches.slots()));
}

std::variant<verdicts::Verdict, verdicts::WorkloadTiming> PairedTiming::workload(const benchsuite::Workload& workload,
                                                                                 PairedLaunches& launches) {
  verdicts::Where where{workload.name, sandbox::describe(workload.axes), "", ""};
  verdicts::WorkloadTiming timing;
  timing.workload = workload.name;
  const Clock::time_point begin = Clock::now();
  const double audits_before_ms = audit_ms_;
  const std::multimap<int, draws::Distribution> surprises = draw_surprises();
  int audits = 0;
  // By distribution, the largest difference of the two sides' outputs in a slot that was found right.
  std::map<draws::Distribution, double> usual;
  // A first pair that finds both sides cold is not counted, though it may be audited like any other.
  for (int taken = 0; taken == 0 || !enough(timing, seconds_since(begin) - (audit_ms_ - audits_before_ms) / 1e3);
       ++taken) {
    for (auto [due, end] = surprises.equal_range(taken); due != end; ++due) {
      if (auto wrong = surprise(where, launches, due->second)) return *wrong;
    }
    const draws::Distribution drawn = draws::draw_disguise(problem_, keys_);
    where.distribution = draws::name_of(drawn);
    launches.draw(keys_.next(), drawn);
    statistics::Pair pair;
    pair.candidate_first = keys_.coin();
    for (const bool turn : {pair.candidate_first, !pair.candidate_first}) {
      auto launched = launches.launch(turn ? Side::candidate : Side::incumbent, keys_.next());
      if (const auto* failure = std::get_if<ProcessFailure>(&launched)) {
        const verdicts::Verdict verdict = verdict_of(*failure, where);
        if (turn) return verdict;
        throw core::SystemError("the incumbent failed while it was timed: " + verdicts::sentence_for_people(verdict));
      }
      const TimingSample& sample = std::get<TimingSample>(launched);
      (turn ? pair.candidate_us : pair.incumbent_us) = sample.us;
      (turn ? pair.candidate_mhz : pair.incumbent_mhz) = sample.mhz;
      pair.throttled = pair.throttled || sample.throttled;
    }
    if (taken > 0 || launches.warm()) timing.pairs.push_back(pair);
    // Which launches are audited cannot be known beforehand; at least the asked share of them is.
    const bool due = audits < std::ceil(settings_.audit_share * (taken + 1));
    const bool last_chance = taken % std::max(1, static_cast<int>(1 / settings_.audit_share)) == 0;
    // Work left out of some launches shows as a difference from what the other side gave. Only a slot that was found
    // right says how large it may be.
    const std::vector<double> differences = launches.differences();
    size_t slot = farthest(differences);
    const bool suspicious = !(differences[slot] <= kSuspicious * usual[drawn]);
    if (!suspicious) slot = keys_.below(differences.size());
    if (keys_.unit() < settings_.audit_share || (due && last_chance) || suspicious) {
      ++audits;
      if (auto wrong = audit(where, launches, slot)) return *wrong;
      if (std::isfinite(differences[slot])) usual[drawn] = std::max(usual[drawn], differences[slot]);
    }
  }
  std::vector<double> candidate_us, incumbent_us;
  for (const statistics::Pair& pair : timing.pairs) {
    candidate_us.push_back(pair.candidate_us);
    incumbent_us.push_back(pair.incumbent_us);
  }
  timing.candidate_us = statistics::median(candidate_us);
  timing.incumbent_us = statistics::median(incumbent_us);
  timing.speed_up = statistics::estimate_speed_up(timing.pairs);
  respect_launch_floor(timing);
  return timing;
}

std::variant<verdicts::Verdict, std::optional<verdicts::Measurement>> PairedTiming::measure(
    const OpenPairedLaunches& open) {
  verdicts::Measurement measurement;
  measurement.clock = clock_;
  std::vector<statistics::WeightedSpeedUp> parts;
  for (const benchsuite::Workload& bench : problem_.workloads) {
    if (bench.role != benchsuite::Role::bench || !bench.runs_on(backend_)) continue;
    auto launches = open(bench);
    if (auto* verdict = std::get_if<verdicts::Verdict>(&launches)) return std::move(*verdict);
    auto timed = workload(bench, *std::get<std::unique_ptr<PairedLaunches>>(launches));
    if (auto* verdict = std::get_if<verdicts::Verdict>(&timed)) return std::move(*verdict);
    std::get<verdicts::WorkloadTiming>(timed).weight = bench.weight;
    parts.push_back({std::get<verdicts::WorkloadTiming>(timed).speed_up, bench.weight});
    measurement.workloads.push_back(std::move(std::get<verdicts::WorkloadTiming>(timed)));
  }
  if (parts.empty()) return std::optional<verdicts::Measurement>();
  measurement.speed_up = statistics::combine(parts);
  measurement.outcome = decide(measurement.speed_up);
  measurement.stopped_early = stopped_early_;
  return std::optional(std::move(measurement));
}

}  // namespace verifier::judging
