// Candidate and incumbent side by side on one shape, as timing sees them, on whatever device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "benchsuite/problem.h"
#include "verifier/cell_channel.h"
#include "verifier/inputs.h"
#include "verifier/verdict.h"

namespace verifier {

enum class Contestant { candidate, incumbent };

// One timed launch.
struct TimingSample {
  double us = 0;
  float mhz = 0;           // of the device's processors meanwhile; 0 where it is not known
  bool throttled = false;  // the device held its clock back: power or heat
};

class Contest {
 public:
  virtual ~Contest() = default;
  Contest() = default;
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  // Have both sides been launched on this shape already? Otherwise the first pair finds caches and pages cold.
  virtual bool warm() const { return false; }
  // Fresh inputs, the same for both sides.
  virtual void draw(uint64_t key, Distribution distribution) = 0;
  // Poisons what the side writes, and launches it.
  virtual std::variant<TimingSample, CellFailure> launch(Contestant side, uint64_t key) = 0;
  // How far the two sides' outputs of the last launches are apart (difference.h).
  virtual double difference() = 0;
  // Holds the candidate's last launch against what is right; nullopt when it is.
  virtual std::optional<Verdict> audit(const Where& where) = 0;
};

// Sets both sides up on a bench workload. A Verdict when the candidate cannot be.
using OpenContest = std::function<std::variant<Verdict, std::unique_ptr<Contest>>(const benchsuite::Workload&)>;

}  // namespace verifier
