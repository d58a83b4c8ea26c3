#include "verifier/judging/paired_launches.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "verifier/statistics/statistics.h"

namespace verifier::judging {
namespace {
using draws::Distribution;
using verdicts::Verdict;

[[noreturn]] void incumbent_failed(const ProcessFailure& failure) {
  throw core::SystemError("the incumbent failed before it was timed: " + sentence_for_people(verdict_of(failure, {})));
}

class DeviceLaunches : public PairedLaunches {
 public:
  DeviceLaunches(Oracle& oracle, const benchsuite::Workload& workload, Contender& candidate, Contender& incumbent,
                 bool hot, statistics::Keys& keys)
      : oracle_(oracle),
        policy_(oracle.device().traits().timing),
        workload_(workload),
        axes_(workload.axes),
        hot_(hot),
        keys_(keys),
        candidate_{candidate, {}, 0},
        incumbent_{incumbent, {}, 1} {}

  // Sets both sides up with one slot and, where the device times short kernels in sequences, looks how long they take
  // and sets them up again with more slots if that is short. A failure is the candidate's.
  std::optional<ProcessFailure> open() {
    if (auto failure = build(1)) return failure;
    if (policy_.short_us <= 0) return std::nullopt;
    draw(keys_.next(), Distribution::ordinary);
    double least_us = std::numeric_limits<double>::infinity();
    for (const Side side : {Side::candidate, Side::incumbent}) {
      double us = 2 * policy_.short_us;
      for (int i = 0; i < 2 && us <= 2 * policy_.short_us; ++i) {  // the first launch loads code, and may seem long
        auto launched = launch(side, keys_.next());
        if (auto* failure = std::get_if<ProcessFailure>(&launched)) {
          if (side == Side::candidate) return std::move(*failure);
          incumbent_failed(*failure);
        }
        us = std::get<TimingSample>(launched).us;
      }
      least_us = std::min(least_us, us);
    }
    const size_t slots = slots_for(least_us);
    if (slots == 1) return std::nullopt;
    return build(slots);
  }

  bool warm() const override { return policy_.short_us > 0; }

  void draw(uint64_t key, Distribution distribution) override {
    statistics::Keys own(key);
    ++draws_;
    drawn_as_ = distribution;
    for (const LentBuffers& inputs : inputs_) oracle_.fill(inputs, axes_, distribution, own.next());
  }

  std::variant<TimingSample, ProcessFailure> launch(Side side, uint64_t key) override {
    Place& place = side == Side::candidate ? candidate_ : incumbent_;
    statistics::Keys own(key);
    if (auto failure = exchange(place, own)) return std::move(*failure);
    auto launched = queued(place, own);
    if (auto* failure = std::get_if<ProcessFailure>(&launched)) return std::move(*failure);
    const double own_us = std::get<Launched>(launched).us / static_cast<double>(inputs_.size()) - empty_us_;
    const ClockReading clock = oracle_.device().read_clock();
    return TimingSample{std::max(own_us, policy_.least_time_us), clock.mhz, clock.throttled};
  }

  size_t slots() const override { return inputs_.size(); }

  std::vector<double> differences() override {
    std::vector<double> apart;
    for (size_t slot = 0; slot < inputs_.size(); ++slot) {
      apart.push_back(candidate_.harness->difference_from(*incumbent_.harness, slot));
    }
    return apart;
  }

  std::optional<Verdict> audit(const verdicts::Where& where, size_t slot) override {
    double worst_ratio = 0;
    return candidate_.harness->audit(slot, oracle_.expected(inputs_[slot], axes_, drawn_as_), where, worst_ratio);
  }

 private:
  struct Place {
    Contender& contender;
    std::optional<LaunchHarness> harness;
    size_t outputs;  // which of the two sets it has
  };

  LaunchRequest request() const {
    LaunchRequest timed;
    timed.slots = inputs_.size();
    timed.hot = hot_;
    timed.timed = true;
    return timed;
  }

  // The sides exchange outputs when that is due (TimingPolicy::draws_in_place).
  std::optional<ProcessFailure> exchange(Place& place, statistics::Keys& keys) {
    if (policy_.draws_in_place <= 0) return std::nullopt;
    const size_t first = &place == &candidate_ ? 0 : 1;
    const size_t due = (first + static_cast<size_t>(draws_ / policy_.draws_in_place)) % 2;
    if (place.outputs == due) return std::nullopt;
    place.outputs = due;
    place.harness->move_to(outputs_[due], keys);
    if (auto failure = place.harness->prepare()) return failure;
    auto launched = place.harness->launch(request(), keys.next());
    if (auto* failure = std::get_if<ProcessFailure>(&launched)) return std::move(*failure);
    return std::nullopt;
  }

  size_t slots_for(double least_us) const {
    if (least_us >= policy_.short_us || hot_) return 1;
    size_t bytes = 0, buffers = 0;
    for (const auto& input : inputs_[0]) bytes += input->bytes(), ++buffers;
    for (const auto& output : outputs_[0][0]) bytes += output->bytes(), ++buffers;
    const size_t workspaces =
        std::max(candidate_.contender.solution.workspaces.size(), incumbent_.contender.solution.workspaces.size());
    const size_t slots = std::min(
        {policy_.most_slots, policy_.most_descriptors / (buffers + workspaces), policy_.most_slot_bytes / bytes});
    return std::max<size_t>(slots, 1);
  }

  std::optional<ProcessFailure> build(size_t slots) {
    draws_ = 0;
    candidate_.outputs = 0;
    incumbent_.outputs = 1;
    candidate_.harness.reset();
    incumbent_.harness.reset();
    inputs_.clear();
    for (size_t slot = 0; slot < slots; ++slot) inputs_.push_back(oracle_.make_inputs(axes_, &workload_, keys_));
    for (Slots& outputs : outputs_) outputs = make_output_slots(oracle_, axes_, slots, keys_);
    candidate_.harness.emplace(oracle_, axes_, inputs_, outputs_[0], candidate_.contender, keys_);
    incumbent_.harness.emplace(oracle_, axes_, inputs_, outputs_[1], incumbent_.contender, keys_);
    empty_us_ = std::numeric_limits<double>::infinity();
    if (auto failure = prepare(candidate_)) return failure;
    if (auto failure = prepare(incumbent_)) incumbent_failed(*failure);
    return std::nullopt;
  }

  std::optional<ProcessFailure> prepare(Place& place) {
    if (auto failure = place.harness->prepare()) return failure;
    std::vector<double> times;
    for (int i = 0; i < policy_.pings; ++i) {
      auto answered = place.contender.process->ping();
      if (auto* failure = std::get_if<ProcessFailure>(&answered)) return std::move(*failure);
      times.push_back(std::get<Launched>(answered).us);
    }
    empty_us_ = std::min(empty_us_, statistics::median(times));
    return std::nullopt;
  }

  std::variant<Launched, ProcessFailure> queued(Place& place, statistics::Keys& keys) {
    for (int left = policy_.tries - 1;; --left) {
      auto launched = place.harness->launch(request(), keys.next());
      const auto* done = std::get_if<Launched>(&launched);
      if (done == nullptr || done->queued || left == 0) return launched;
    }
  }

  Oracle& oracle_;
  const TimingPolicy& policy_;
  const benchsuite::Workload& workload_;
  const core::Bindings& axes_;
  bool hot_;
  statistics::Keys& keys_;
  Slots inputs_;
  std::array<Slots, 2> outputs_;  // the sides exchange them now and then
  int draws_ = 0;
  Distribution drawn_as_ = Distribution::ordinary;
  Place candidate_, incumbent_;
  // The time of an empty request to the faster side, taken off both sides' times: a candidate that answers empty
  // requests slowly would otherwise be credited for it with every launch.
  double empty_us_ = 0;
};
}  // namespace

std::variant<Verdict, std::unique_ptr<PairedLaunches>> open_paired_launches(Oracle& oracle,
                                                                            const benchsuite::Workload& workload,
                                                                            Contender& candidate, Contender& incumbent,
                                                                            bool hot, statistics::Keys& keys) {
  try {
    auto launches = std::make_unique<DeviceLaunches>(oracle, workload, candidate, incumbent, hot, keys);
    if (auto failure = launches->open()) return verdict_of(*failure, {});
    return std::unique_ptr<PairedLaunches>(std::move(launches));
  } catch (const core::InputError& error) {  // the plan cannot be bound to this shape
    return verdicts::InvalidPlan{error.what()};
  }
}

}  // namespace verifier::judging
