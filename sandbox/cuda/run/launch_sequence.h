// What every cell on a GPU does, whoever's launches they are: maps what the judge lends, and times sequences of
// launches.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/strict_json.h"
#include "sandbox/cuda/driver/shared_memory.h"
#include "sandbox/cuda/run/prepared_plan.h"
#include "sandbox/process/channel.h"

namespace sandbox::cuda::run {

// Writes three times the L2 cache, each time something else.
class L2Flush {
 public:
  explicit L2Flush(const driver::Context& context);
  void enqueue();
  // Takes about as long, and leaves most of the cache as it is.
  void enqueue_delay();

 private:
  const driver::Context& context_;
  driver::PrivateMemory memory_;
  unsigned pattern_ = 0;
};

// The buffers of a "map" request, by slot.
class LentSlots {
 public:
  explicit LentSlots(const driver::Context& context) : context_(context) {}

  // Replaces what was mapped before. Throws DriverError; core::InputError for what is no such request.
  void map(const core::JsonView& json, const std::vector<core::UniqueFd>& fds);
  const std::vector<std::vector<DeviceBuffer>>& slots() const { return slots_; }

 private:
  const driver::Context& context_;
  std::vector<driver::SharedMemory> mapped_;
  std::vector<std::vector<DeviceBuffer>> slots_;
};

// Flushes the L2 cache (or, `hot`, takes as long over a corner of it), then times `enqueue(slot)` on each of the first
// `slots` slots. Waits for the end. Returns the answer to "go".
class LaunchTimer {
 public:
  LaunchTimer(const driver::Context& context, L2Flush& flush)
      : context_(context), flush_(flush), begin_(context), end_(context) {}
  core::Json time(size_t slots, bool hot, const std::function<void(size_t)>& enqueue);

 private:
  const driver::Context& context_;
  L2Flush& flush_;
  driver::Event begin_, end_;
};

}  // namespace sandbox::cuda::run
