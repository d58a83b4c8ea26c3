#include "verifier/devices/cuda/paired_launches.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/error.h"
#include "verifier/statistics/statistics.h"

namespace verifier::devices::cuda {
namespace {
constexpr int kPings = 15;
constexpr int kDrawsInPlace = 4;
constexpr int kTries = 4;                // of a sample whose launches were not queued in time
constexpr double kShort_us = 20;         // below, several launches in a row are timed
constexpr size_t kSlots = 12;            // of those
constexpr size_t kMostDescriptors = 60;  // in one message
constexpr size_t kMostSlotBytes = size_t{256} << 20;
constexpr double kLeastTime_us = 0.05;

[[noreturn]] void incumbent_failed(const judging::ProcessFailure& failure) {
  throw core::SystemError("the incumbent failed before it was timed: " +
                          verdicts::sentence_for_people(judging::verdict_of(failure, {})));
}

class CudaPairedLaunches : public judging::PairedLaunches {
 public:
  CudaPairedLaunches(Oracle& oracle, const core::Bindings& axes, Contender& candidate, Contender& incumbent, bool hot,
                     const sandbox::cuda::driver::ClockMonitor& clocks, statistics::Keys& keys)
      : oracle_(oracle),
        axes_(axes),
        hot_(hot),
        clocks_(clocks),
        keys_(keys),
        candidate_{candidate, {}, 0, 0},
        incumbent_{incumbent, {}, 0, 1} {}

  // Sets both sides up with one slot, sees how long they take, and sets them up again where that is short. A failure is
  // the candidate's.
  std::optional<judging::ProcessFailure> open() {
    if (auto failure = build(1)) return failure;
    draw(keys_.next(), draws::Distribution::ordinary);
    double least_us = 0;
    for (const judging::Side side : {judging::Side::candidate, judging::Side::incumbent}) {
      double us = 2 * kShort_us;
      for (int i = 0; i < 2 && us <= 2 * kShort_us; ++i) {  // the first launch loads code, and may seem long
        auto launched = launch(side, keys_.next());
        if (auto* failure = std::get_if<judging::ProcessFailure>(&launched)) {
          if (side == judging::Side::candidate) return std::move(*failure);
          incumbent_failed(*failure);
        }
        us = std::get<judging::TimingSample>(launched).us;
      }
      least_us = least_us == 0 ? us : std::min(least_us, us);
    }
    const size_t slots = slots_for(least_us);
    if (slots == 1) return std::nullopt;
    return build(slots);
  }

  bool warm() const override { return true; }

  void draw(uint64_t key, draws::Distribution distribution) override {
    statistics::Keys own(key);
    ++draws_;
    drawn_as_ = distribution;
    for (const std::vector<LentBuffer>& inputs : inputs_) {
      oracle_.fill(inputs, axes_, distribution, own.next());
    }
  }

  std::variant<judging::TimingSample, judging::ProcessFailure> launch(judging::Side side, uint64_t key) override {
    Corner& corner = side == judging::Side::candidate ? candidate_ : incumbent_;
    statistics::Keys own(key);
    if (auto failure = exchange(corner, own)) return std::move(*failure);
    const size_t all = inputs_.size();
    auto launched = queued(corner, all, own);
    if (auto* failure = std::get_if<judging::ProcessFailure>(&launched)) return std::move(*failure);
    const double us = std::get<Launched>(launched).us;
    // Nothing but empty sequences is taken off: whatever else is, a kernel may take its time in.
    const double own_us = (us - std::min(candidate_.empty_us, incumbent_.empty_us)) / static_cast<double>(all);
    const sandbox::cuda::driver::ClockState clock = clocks_.read();
    return judging::TimingSample{std::max(own_us, kLeastTime_us), clock.mhz, clock.throttled};
  }

  double difference() override {
    double largest = 0;
    for (size_t slot = 0; slot < inputs_.size(); ++slot) {
      largest = std::max(largest, candidate_.harness->difference_from(*incumbent_.harness, slot));
    }
    return largest;
  }

  std::optional<verdicts::Verdict> audit(const verdicts::Where& where) override {
    const size_t slot = keys_.below(inputs_.size());
    double worst_ratio = 0;
    return candidate_.harness->audit(slot, oracle_.expected(inputs_[slot], axes_, drawn_as_), where, worst_ratio);
  }

 private:
  struct Corner {
    Contender& side;
    std::optional<LaunchHarness> harness;
    double empty_us;  // median of a sequence without launches
    size_t outputs;   // which of the two sets it has
  };

  // Where outputs and workspaces lie in memory makes a kernel up to two percent faster or slower. So the sides change
  // places after every few draws; the first launch in a new place is not timed.
  std::optional<judging::ProcessFailure> exchange(Corner& corner, statistics::Keys& keys) {
    const size_t first = &corner == &candidate_ ? 0 : 1;
    const size_t due = (first + static_cast<size_t>(draws_ / kDrawsInPlace)) % 2;
    if (corner.outputs == due) return std::nullopt;
    corner.outputs = due;
    corner.harness->move_to(outputs_[due], keys);
    if (auto failure = corner.harness->prepare()) return failure;
    auto launched = corner.harness->launch(inputs_.size(), hot_, keys.next());
    if (auto* failure = std::get_if<judging::ProcessFailure>(&launched)) return std::move(*failure);
    return std::nullopt;
  }

  size_t slots_for(double least_us) const {
    if (least_us >= kShort_us || hot_) return 1;
    size_t bytes = 0, buffers = 0;
    for (const LentBuffer& input : inputs_[0]) bytes += input.buffer().bytes, ++buffers;
    for (const benchsuite::Tensor& output : oracle_.problem().outputs) {
      bytes += static_cast<size_t>(output.bytes(axes_)), ++buffers;
    }
    const size_t workspaces =
        std::max(candidate_.side.solution.workspaces.size(), incumbent_.side.solution.workspaces.size());
    const size_t slots = std::min({kSlots, kMostDescriptors / (buffers + workspaces), kMostSlotBytes / bytes});
    return std::max<size_t>(slots, 1);
  }

  std::optional<judging::ProcessFailure> build(size_t slots) {
    draws_ = 0;
    candidate_.outputs = 0;
    incumbent_.outputs = 1;
    candidate_.harness.reset();
    incumbent_.harness.reset();
    inputs_.clear();
    for (size_t slot = 0; slot < slots; ++slot) {
      inputs_.push_back(make_inputs(oracle_.context(), oracle_.problem(), axes_, keys_));
    }
    for (OutputSlots& outputs : outputs_) outputs = make_output_slots(oracle_, axes_, slots, keys_);
    candidate_.harness.emplace(oracle_, axes_, inputs_, outputs_[0], candidate_.side, keys_);
    incumbent_.harness.emplace(oracle_, axes_, inputs_, outputs_[1], incumbent_.side, keys_);
    if (auto failure = prepare(candidate_)) return failure;
    if (auto failure = prepare(incumbent_)) incumbent_failed(*failure);
    return std::nullopt;
  }

  static std::optional<judging::ProcessFailure> prepare(Corner& corner) {
    if (auto failure = corner.harness->prepare()) return failure;
    std::vector<double> times;
    for (int i = 0; i < kPings; ++i) {
      auto answered = corner.side.process.ping();
      if (auto* failure = std::get_if<judging::ProcessFailure>(&answered)) return std::move(*failure);
      times.push_back(std::get<Launched>(answered).us);
    }
    corner.empty_us = statistics::median(times);
    return std::nullopt;
  }

  std::variant<Launched, judging::ProcessFailure> queued(Corner& corner, size_t slots, statistics::Keys& keys) {
    for (int left = kTries - 1;; --left) {
      auto launched = corner.harness->launch(slots, hot_, keys.next());
      const auto* done = std::get_if<Launched>(&launched);
      if (done == nullptr || done->gated || left == 0) return launched;
    }
  }

  Oracle& oracle_;
  core::Bindings axes_;
  bool hot_;
  const sandbox::cuda::driver::ClockMonitor& clocks_;
  statistics::Keys& keys_;
  InputSlots inputs_;
  std::array<OutputSlots, 2> outputs_;  // the sides exchange them now and then
  int draws_ = 0;
  draws::Distribution drawn_as_ = draws::Distribution::ordinary;
  Corner candidate_, incumbent_;
};
}  // namespace

std::variant<verdicts::Verdict, std::unique_ptr<judging::PairedLaunches>> open_paired_launches(
    Oracle& oracle, const core::Bindings& axes, Contender& candidate, Contender& incumbent, bool hot,
    const sandbox::cuda::driver::ClockMonitor& clocks, statistics::Keys& keys) {
  try {
    auto launches = std::make_unique<CudaPairedLaunches>(oracle, axes, candidate, incumbent, hot, clocks, keys);
    if (auto failure = launches->open()) return judging::verdict_of(*failure, {});
    return std::unique_ptr<judging::PairedLaunches>(std::move(launches));
  } catch (const core::InputError& error) {  // the plan cannot be bound to this shape
    return verdicts::InvalidPlan{error.what()};
  }
}

}  // namespace verifier::devices::cuda
