// Shared by all candidates on a GPU: maps the judge's memory, and times sequences of launches.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/strict_json.h"
#include "sandbox/gpu/driver/shared_memory.h"
#include "sandbox/gpu/run/prepared_plan.h"
#include "sandbox/process/channel.h"

namespace sandbox::gpu::run {

// A candidate broke the context: this process can launch nothing more.
struct ContextLost {
  core::Json answer;  // to the request that failed
};

// Answers one request of a judge (loaded_candidate.h). Throws ContextLost.
using Answering = std::function<core::Json(process::Message& request)>;

// Sends the owner a channel for its judge, as candidate `number`, loads the candidate, and answers the judge until it
// hangs up. Reports a core::InputError of `load` to the judge. Ends the process after ContextLost.
void serve_judge(process::Channel& owner, int number, const std::function<Answering()>& load);

// Flushes the L2 cache: writes three times its size, with a new pattern each time.
class L2Flush {
 public:
  explicit L2Flush(const driver::Context& context);
  void enqueue();
  // Takes about as long, but leaves most of the cache unchanged.
  void enqueue_delay();

 private:
  const driver::Context& context_;
  driver::PrivateMemory memory_;
  std::mt19937_64 patterns_;
};

// The buffers of a "map" request, by slot.
class LentSlots {
 public:
  explicit LentSlots(const driver::Context& context) : context_(context) {}

  // Replaces the earlier mappings, but for those of memory that the request calls kept. Throws DriverError;
  // core::InputError for an invalid request.
  void map(const core::JsonView& json, const std::vector<core::UniqueFd>& fds);
  const std::vector<std::vector<DeviceBuffer>>& slots() const { return slots_; }

 private:
  const driver::Context& context_;
  std::map<int64_t, driver::SharedMemory> mapped_;  // by the judge's number for it
  std::vector<std::vector<DeviceBuffer>> slots_;
};

// Flushes the L2 cache (if `hot`, writes a small part of it for the same time), then times `enqueue(slot)` for each of
// the first `slots` slots, each between events of its own; without slots, a pair of events with nothing between them.
// `enqueue_between` is not timed: it comes between two slots. Waits for the end. Returns the answer to "go", with the
// sum of all times.
class LaunchTimer {
 public:
  LaunchTimer(const driver::Context& context, L2Flush& flush) : context_(context), flush_(flush) {}
  core::Json time(
      size_t slots, bool hot, const std::function<void(size_t)>& enqueue,
      const std::function<void()>& enqueue_between = [] {});

 private:
  const driver::Context& context_;
  L2Flush& flush_;
  std::deque<std::pair<driver::Event, driver::Event>> events_;  // by slot
};

}  // namespace sandbox::gpu::run
