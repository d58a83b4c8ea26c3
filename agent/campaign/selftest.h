// Examines the judge of a device: it must refuse dishonest kernels, accept honest ones, and time a kernel like itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/campaign/device_session.h"
#include "agent/campaign/startup.h"
#include "results/archive/records.h"
#include "verifier/adversarial/adversarial_case.h"

namespace agent::campaign {

struct SelftestPlan {
  std::string backend;
  uint64_t seed = 1;   // of all random choices: drawn cases, inputs, order
  bool quick = false;  // a few cases of each class, one problem, the least effort that decides
  // Instead of all that: times so many kernels against themselves, naive and shipped ones of all problems in turn.
  int sessions = 0;
  std::vector<std::string> problems = {};  // judges cases of these alone; empty: of all

  bool is_whole() const { return sessions == 0 && problems.empty(); }  // else nothing speaks for the device's judge
};

// A case with another verdict than required.
struct SelftestFinding {
  std::string name, tries, wanted, verdict, sentence;
};
// A kernel timed against itself.
struct SelftestControl {
  std::string problem, kernel;
  verifier::statistics::SpeedUp ratio;
  verifier::statistics::Outcome outcome = verifier::statistics::Outcome::tie;

  bool holds_truth() const { return ratio.low <= 1 && 1 <= ratio.high; }  // the interval contains 1
};

struct SelftestReport {
  std::map<verifier::adversarial::AttackClass, int64_t> judged;  // cases that must be refused, and honest ones
  int64_t undecided = 0;  // dishonest solutions that may be correct on this device
  int64_t shipped = 0;    // kernels of kernels/
  std::vector<SelftestFinding> false_accepts, false_rejects;
  std::vector<SelftestFinding> otherwise;  // rightly refused, but with another verdict than named
  std::vector<SelftestControl> controls;
  double honest_seconds = 0;  // for the honest ones, compiled ahead
  bool interrupted = false;

  int64_t controls_with_truth() const;
  bool passed() const { return false_accepts.empty() && false_rejects.empty(); }
  int64_t dishonest() const;
  int64_t honest() const;                      // includes shipped kernels
  std::optional<double> widest_noise() const;  // of the controls: the largest ratio or end of an interval, at least 1
  std::optional<double> candidates_per_hour() const;
};

// Progress: the problem, its number among all, its cases judged and in all.
struct SelftestProgress {
  std::string problem;
  size_t index = 0, problems = 0, judged = 0, cases = 0;
};

// Uses the first of the session's devices. Calls the listener after every case; ends early when it returns false.
// Throws core::SystemError for our own failures.
SelftestReport run_selftest(DeviceSession& session, const LoadedData& data, const SelftestPlan& plan,
                            const std::function<bool(const SelftestProgress&)>& listener);

core::Json to_json(const SelftestReport& report);

}  // namespace agent::campaign
