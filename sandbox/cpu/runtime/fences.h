// The fences of a launch that is not cooperative, as the checking build knows them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {

// Which fences come before what a thread does next: its own, and those of its warp, block or cluster once they have met
// since. Where threads meet in other ways, too, all of its block.
class Fences {
 public:
  void clear() {
    threads_.clear();
    warps_.clear();
    blocks_.clear();
    clusters_.clear();
  }
  void add(const Scheduler& scheduler) {
    threads_.insert(thread(scheduler));
    warps_.try_emplace(scheduler.warp_of(thread(scheduler)), scheduler.warp_epoch());
    blocks_.try_emplace(scheduler.first_block() + scheduler.block(), scheduler.epoch());
    clusters_.try_emplace(scheduler.first_block(), scheduler.cluster_epoch());
  }
  bool are_before(const Scheduler& scheduler) const {
    if (threads_.empty()) return false;
    const auto met = [](const auto& fences, auto key, uint32_t epoch) {
      const auto first = fences.find(key);
      return first != fences.end() && first->second < epoch;
    };
    const int64_t block = scheduler.first_block() + scheduler.block();
    return threads_.contains(thread(scheduler)) || met(blocks_, block, scheduler.epoch()) ||
           met(warps_, scheduler.warp_of(thread(scheduler)), scheduler.warp_epoch()) ||
           met(clusters_, scheduler.first_block(), scheduler.cluster_epoch()) ||
           (scheduler.clocks().active() && blocks_.contains(block));
  }

 private:
  static int64_t thread(const Scheduler& scheduler) { return scheduler.first_thread() + scheduler.thread(); }

  std::unordered_set<int64_t> threads_;
  std::unordered_map<size_t, uint32_t> warps_;  // the epoch of the first
  std::unordered_map<int64_t, uint32_t> blocks_, clusters_;
};

}  // namespace sandbox::cpu::runtime
