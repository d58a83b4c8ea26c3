// Candidate and incumbent side by side on one shape, as timing sees them, on whatever device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/process/turns.h"
#include "verifier/draws/inputs.h"
#include "verifier/judging/launch_harness.h"
#include "verifier/verdicts/verdict.h"

namespace verifier::judging {

enum class Side { candidate, incumbent };

// One timed launch.
struct TimingSample {
  double us = 0;
  float mhz = 0;           // of the device's processors meanwhile; 0 where it is not known
  bool throttled = false;  // the device held its clock back: power or heat
};

class PairedLaunches {
 public:
  virtual ~PairedLaunches() = default;
  PairedLaunches() = default;
  PairedLaunches(const PairedLaunches&) = delete;
  PairedLaunches& operator=(const PairedLaunches&) = delete;

  // Have both sides been launched on this shape already? Otherwise the first pair finds caches and pages cold.
  virtual bool warm() const { return false; }
  // Fresh inputs, the same for both sides.
  virtual void draw(uint64_t key, draws::Distribution distribution) = 0;
  // Poisons what the side writes, and launches it.
  virtual std::variant<TimingSample, ProcessFailure> launch(Side side, uint64_t key) = 0;
  // The launches of one sample, each on buffers of its own.
  virtual size_t slots() const { return 1; }
  // By slot, how far the two sides' outputs of the last launches are apart (difference.h).
  virtual std::vector<double> differences() = 0;
  // Holds the candidate's last launch in a slot against what is right; nullopt when it is.
  virtual std::optional<verdicts::Verdict> audit(const verdicts::Where& where, size_t slot) = 0;

  // The turn at the device in which they are timed. It ends with them.
  void keep(sandbox::process::Turns::Turn turn) { turn_ = std::move(turn); }

 private:
  sandbox::process::Turns::Turn turn_;
};

// Sets both sides up on a workload. It, both sides, the oracle and the keys must outlive the result. A Verdict when the
// candidate cannot be set up; throws core::SystemError when the incumbent cannot.
std::variant<verdicts::Verdict, std::unique_ptr<PairedLaunches>> open_paired_launches(
    Oracle& oracle, const benchsuite::Workload& workload, Contender& candidate, Contender& incumbent, bool hot,
    statistics::Keys& keys);

// The same on a bench workload, for PairedTiming.
using OpenPairedLaunches =
    std::function<std::variant<verdicts::Verdict, std::unique_ptr<PairedLaunches>>(const benchsuite::Workload&)>;

}  // namespace verifier::judging
