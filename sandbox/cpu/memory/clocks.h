// What each thread of a block knows of the accesses of the others, where they meet in other ways than at a barrier of
// the whole block: at named barriers, at mbarriers, and where asynchronous operations end. Vector clocks, for the
// checking build. An agent is whoever accesses memory for a thread asynchronously: copies, and products of warpgroups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sandbox::cpu::memory {

class Clocks {
 public:
  // For each thread, and behind those for each agent: the epoch of its warp, or of the agent, before which its accesses
  // are known.
  using Known = std::vector<uint32_t>;

  // The agents of a block: `kBarrierAgents` for the copies that report to mbarriers, then three for each warp.
  enum class Agent { copies, bulk_stores, products };  // of a warp
  static constexpr int64_t kBarrierAgents = 32;

  // Nobody has met yet.
  void begin_block(int64_t threads, int64_t warps);
  // Before the first meeting that is not of the whole block.
  void activate();
  bool active() const { return active_; }
  int64_t threads() const { return threads_; }

  int64_t agent_of_barrier(int64_t index) const { return threads_ + index % kBarrierAgents; }
  int64_t agent_of_warp(Agent agent, int64_t warp) const {
    return threads_ + kBarrierAgents + static_cast<int64_t>(agent) * warps_ + warp;
  }
  bool is_agent(int64_t who) const { return who >= threads_; }
  bool is_product(int64_t who) const { return who >= agent_of_warp(Agent::products, 0); }
  // Of the agents of barriers: accesses from here on are of a new epoch, which is returned. Those of warps count the
  // groups of a thread instead.
  uint32_t advance(int64_t agent) { return ++agent_epochs_[static_cast<size_t>(agent - threads_)]; }
  uint32_t epoch_of(int64_t agent) const { return agent_epochs_[static_cast<size_t>(agent - threads_)]; }

  uint32_t known(int64_t thread, int64_t who) const {
    return known_[static_cast<size_t>(thread)][static_cast<size_t>(who)];
  }
  const Known& known_by(int64_t thread) const { return known_[static_cast<size_t>(thread)]; }
  void learn(int64_t thread, int64_t who, uint32_t epoch);
  void learn(int64_t thread, const Known& more);
  static void join(Known& all, const Known& more);
  // Each of these threads knows what any of them knows.
  void share(const std::vector<int64_t>& among);
  // A barrier of the whole block, which orders the threads by itself: all know what any knows of the agents.
  void share_agents();

  // A thread's writes before its last fence of the asynchronous proxy are visible to copies and products; those of
  // others, too, if it has met nobody since.
  void fence(int64_t thread, uint32_t epoch);
  bool fenced(int64_t writer, uint32_t write_epoch) const {
    return fences_[static_cast<size_t>(writer)].epoch > write_epoch;
  }
  bool fenced_last(int64_t thread) const { return fences_[static_cast<size_t>(thread)].is_last; }

 private:
  struct Fence {
    uint32_t epoch = 0;  // accesses before it were before the fence
    bool is_last = false;
  };

  bool active_ = false;
  int64_t threads_ = 0, warps_ = 0;
  std::vector<Known> known_;  // by thread
  std::vector<uint32_t> agent_epochs_;
  std::vector<Fence> fences_;
};

}  // namespace sandbox::cpu::memory
