// The interface that a kind of device implements for the judge: memory, trusted code, comparison, launches of
// candidates. Everything else about judging is the same on every device (session.h, checking.h, oracle.h,
// paired_launches.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "benchsuite/problem.h"
#include "sandbox/process/channel.h"
#include "sandbox/process/turns.h"
#include "sandbox/solution.h"
#include "verifier/comparison/compare.h"
#include "verifier/comparison/output_rules.h"
#include "verifier/comparison/reduction.h"
#include "verifier/draws/inputs.h"
#include "verifier/draws/poison.h"
#include "verifier/judging/candidate_channel.h"
#include "verifier/judging/policy.h"
#include "verifier/reference/reference_channel.h"
#include "verifier/statistics/keys.h"

namespace verifier::judging {

using TensorBytes = std::vector<std::vector<std::byte>>;  // one per tensor, in the problem's order
// The outputs of both trusted solutions for the same inputs.
struct TrustedOutputs {
  TensorBytes reference;  // floating outputs in double
  TensorBytes naive;      // in the problem's dtypes
};

// One tensor or workspace in memory that the judge owns and lends to candidate processes. Around its content lies
// slack, which nobody may write.
class LentBuffer {
 public:
  LentBuffer(std::string name, size_t bytes, bool writable)
      : name_(std::move(name)), bytes_(bytes), writable_(writable) {}
  virtual ~LentBuffer() = default;
  LentBuffer(const LentBuffer&) = delete;
  LentBuffer& operator=(const LentBuffer&) = delete;

  const std::string& name() const { return name_; }
  size_t bytes() const { return bytes_; }
  bool writable() const { return writable_; }  // by candidate processes
  // An input that a workload takes from a file: no draw changes it.
  bool keeps_content() const { return keeps_content_; }
  void keep_content() { keeps_content_ = true; }

 private:
  std::string name_;
  size_t bytes_;
  bool writable_;
  bool keeps_content_ = false;
};
using LentBuffers = std::vector<std::unique_ptr<LentBuffer>>;

// Content and slack of every writable buffer are poisoned with keys of their own.
struct PoisonKeys {
  uint64_t content, before, after;
};

// A solution from the problem's folder (reference, naive or reference.py), loaded by the judge. It is trusted not to
// harm: its faults are ours, and all methods throw core::SystemError for them.
class TrustedSolution {
 public:
  virtual ~TrustedSolution() = default;
  TrustedSolution() = default;
  TrustedSolution(const TrustedSolution&) = delete;
  TrustedSolution& operator=(const TrustedSolution&) = delete;

  // Computes the outputs. They stay with it, on the device, until the next run. May return before they are there.
  virtual void run(const benchsuite::Problem& problem, const core::Bindings& axes, const LentBuffers& inputs) = 0;
  // The same for inputs in host memory.
  virtual void run(const benchsuite::Problem& problem, const core::Bindings& axes, const TensorBytes& inputs) = 0;
  // The outputs of the last run; waits for it.
  virtual TensorBytes fetch() const = 0;
};

// One output of a candidate, and what the last runs of the trusted solutions gave for it.
struct ComparedOutput {
  const LentBuffer& output;
  const TrustedSolution& reference;
  const TrustedSolution& naive;
  bool naive_ran;  // otherwise its errors are known from an earlier run, or not needed
  size_t index;    // of the output
  bool exact;      // bit for bit: the exact battery
  const std::vector<comparison::NaiveTile>* known = nullptr;      // naive's errors from an earlier run
  std::vector<comparison::NaiveTile>* learned = nullptr;          // receives naive's errors, where not null
  std::vector<std::vector<comparison::NaiveTile>> close_by = {};  // naive's errors for inputs close by
};

struct LaunchRequest {
  size_t slots = 1;     // launches on each of the first so many sets of buffers, in one sequence
  bool hot = false;     // inputs may be in caches; otherwise caches are flushed where the device can do that
  size_t order = 0;     // an index into DeviceTraits::thread_orders
  bool timed = false;   // in whatever thread order is fastest
  uint64_t seed = 0;    // of a seeded thread order
  double patience = 1;  // times the usual deadline
};
struct Launched {
  double us = 0;
  bool queued = true;  // no gap between launches is in the time
};

// A candidate's process as the judge sees it. Nothing that comes back is trusted.
class CandidateProcess {
 public:
  virtual ~CandidateProcess() = default;
  CandidateProcess() = default;
  CandidateProcess(const CandidateProcess&) = delete;
  CandidateProcess& operator=(const CandidateProcess&) = delete;

  // Waits until the candidate is loaded and can do nothing else any more.
  virtual std::optional<ProcessFailure> await_loaded() = 0;
  // Maps one set of buffers for each slot, replacing earlier ones, and makes the plan ready on each. `shape` describes
  // axes and tensors for a library, which ignores the plan.
  virtual std::optional<ProcessFailure> prepare(const std::vector<std::vector<const LentBuffer*>>& slots,
                                                const sandbox::LaunchPlan& plan, core::Json shape) = 0;
  virtual std::variant<Launched, ProcessFailure> launch(const LaunchRequest& request) = 0;
  // Untimed; does `meanwhile` beside it, or afterwards where the judge would take what the launch needs. A process that
  // fails at once may leave it undone.
  virtual std::variant<Launched, ProcessFailure> launch_beside(const LaunchRequest& request,
                                                               const std::function<void()>& meanwhile) {
    auto launched = launch(request);
    if (std::holds_alternative<Launched>(launched)) meanwhile();
    return launched;
  }
  // The time of a request without launches.
  virtual std::variant<Launched, ProcessFailure> ping() = 0;
  // In the covering build: the source lines of which some part has not run yet.
  virtual std::variant<std::vector<int64_t>, ProcessFailure> lines_not_run() { return std::vector<int64_t>{}; }
};

struct ClockReading {
  float mhz = 0;           // 0: not known
  bool throttled = false;  // the device holds its clock back: power or heat
};

// Not for two threads at once. Methods throw core::SystemError when the device fails.
class JudgeDevice {
 public:
  virtual ~JudgeDevice() = default;
  JudgeDevice() = default;
  JudgeDevice(const JudgeDevice&) = delete;
  JudgeDevice& operator=(const JudgeDevice&) = delete;

  virtual const DeviceTraits& traits() const = 0;

  // Checks go beside those of other judges of this device, and timing goes alone. Of a device that nobody shares until
  // its owner says so.
  const sandbox::process::Turns& turns() const { return turns_; }
  void share(core::UniqueFd file_of_turns) { turns_ = sandbox::process::Turns(std::move(file_of_turns)); }

  // Answers a request of the owner that this kind of device alone knows; nullopt for all others.
  virtual std::optional<core::Json> answer(const std::string& op, sandbox::process::Message& message) = 0;

  // `binary`: a descriptor of the compiled solution. `wide_outputs`: a reference, whose outputs are in
  // Tensor::reference_dtype().
  virtual std::unique_ptr<TrustedSolution> load_trusted(int binary, sandbox::Solution solution,
                                                        sandbox::TunableBinding binding, bool wide_outputs) = 0;
  // reference.py: both of a problem's solutions ask over one channel. `in_double`: the truth, in wide outputs.
  virtual std::unique_ptr<TrustedSolution> load_pytorch(std::shared_ptr<reference::ReferenceChannel> channel,
                                                        bool in_double) = 0;
  virtual std::unique_ptr<CandidateProcess> connect(sandbox::process::Channel channel,
                                                    const verdicts::CheckSettings& settings) = 0;

  // `keys`: where in memory it lies may be drawn.
  virtual std::unique_ptr<LentBuffer> lend(std::string name, size_t bytes, bool writable, statistics::Keys& keys) = 0;
  // These two may return before it is done; finish() waits. `number`: of a named draw.
  virtual void fill(LentBuffer& buffer, const benchsuite::Tensor& tensor, const core::Bindings& axes,
                    draws::Distribution distribution, uint64_t key, double number) = 0;
  virtual void poison(LentBuffer& buffer, const PoisonKeys& keys) = 0;
  // Copies all of its content from host memory, and waits.
  virtual void store(LentBuffer& buffer, std::span<const std::byte> bytes) = 0;
  virtual void finish() {}
  // Memory that can still be lent. Other processes on the device count as well.
  virtual int64_t free_bytes() const { return INT64_MAX; }

  virtual bool slack_untouched(const LentBuffer& buffer, const PoisonKeys& keys) = 0;
  virtual draws::Survivors find_poison(const LentBuffer& buffer, size_t element_bytes, uint64_t key) = 0;
  virtual std::vector<std::byte> fetch(const LentBuffer& buffer) const = 0;
  // Returns what comparison::gathered gives for its content.
  virtual std::vector<std::byte> gather(const LentBuffer& buffer, size_t element_bytes,
                                        const std::vector<int64_t>& places) = 0;
  virtual comparison::Moments moments(const LentBuffer& buffer, core::DType dtype) = 0;  // sampled
  virtual double difference(const LentBuffer& a, const LentBuffer& b, core::DType dtype) = 0;
  virtual std::variant<comparison::Match, verdicts::Verdict> compare(const comparison::OutputForm& form,
                                                                     const ComparedOutput& compared) = 0;
  // The naive solution's errors in each tile of floating output `index`, from the last runs of both solutions.
  virtual std::vector<comparison::NaiveTile> naive_errors(core::DType dtype, const comparison::Tiling& tiling,
                                                          const TrustedSolution& reference,
                                                          const TrustedSolution& naive, size_t index) = 0;
  // How far a candidate's whole numbers are from the reference's unrounded ones. nullopt: the host looks at them.
  virtual std::optional<comparison::Quanta> quanta(core::DType /*dtype*/, const ComparedOutput& /*compared*/) {
    return std::nullopt;
  }
  // The clock of the device's processors just now.
  virtual ClockReading read_clock() const { return {}; }

 private:
  sandbox::process::Turns turns_;
};

}  // namespace verifier::judging
