#include "sandbox/cpu/memory/clocks.h"

#include <algorithm>

namespace sandbox::cpu::memory {

void Clocks::begin_block(int64_t threads, int64_t warps) {
  active_ = false;
  threads_ = threads;
  warps_ = warps;
}

void Clocks::activate() {
  if (active_) return;
  active_ = true;
  const auto agents = static_cast<size_t>(kBarrierAgents + 3 * warps_);
  known_.resize(static_cast<size_t>(threads_));
  for (Known& known : known_) known.assign(static_cast<size_t>(threads_) + agents, 0);
  agent_epochs_.assign(kBarrierAgents, 1);
  fences_.assign(static_cast<size_t>(threads_), {});
}

void Clocks::learn(int64_t thread, int64_t who, uint32_t epoch) {
  uint32_t& known = known_[static_cast<size_t>(thread)][static_cast<size_t>(who)];
  known = std::max(known, epoch);
}

void Clocks::learn(int64_t thread, const Known& more) {
  join(known_[static_cast<size_t>(thread)], more);
  fences_[static_cast<size_t>(thread)].is_last = false;
}

void Clocks::join(Known& all, const Known& more) {
  if (all.size() < more.size()) all.resize(more.size(), 0);
  for (size_t i = 0; i < more.size(); ++i) all[i] = std::max(all[i], more[i]);
}

void Clocks::share(const std::vector<int64_t>& among) {
  Known all;
  for (const int64_t thread : among) join(all, known_by(thread));
  for (const int64_t thread : among) {
    known_[static_cast<size_t>(thread)] = all;
    fences_[static_cast<size_t>(thread)].is_last = false;
  }
}

void Clocks::share_agents() {
  for (size_t agent = static_cast<size_t>(threads_); agent < known_[0].size(); ++agent) {
    uint32_t most = 0;
    for (const Known& known : known_) most = std::max(most, known[agent]);
    for (Known& known : known_) known[agent] = most;
  }
  for (Fence& fence : fences_) fence.is_last = false;
}

void Clocks::fence(int64_t thread, uint32_t epoch) { fences_[static_cast<size_t>(thread)] = {epoch, true}; }

}  // namespace sandbox::cpu::memory
