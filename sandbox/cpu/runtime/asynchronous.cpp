#include "sandbox/cpu/runtime/asynchronous.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sandbox/cpu/runtime/device_state.h"

namespace sandbox::cpu::runtime {
// ---- The block

void Asynchronous::begin_block() {
  named_.assign(static_cast<size_t>(scheduler_.cluster_blocks()), {});
  barriers_.clear();
  unfenced_ = 0;
  loads_.clear();
  for (auto& threads : of_threads_) threads.clear();
  products_.clear();
  tensor_cores_.begin_block();
}

void Asynchronous::end_block() {
  if (loads_.empty()) return tensor_cores_.end_block();
  scheduler_.set_fault(FaultKind::race,
                       "the block ends while a bulk copy into its shared memory is in progress: nobody waits for it at "
                       "the mbarrier at " +
                           shown(loads_.front().barrier),
                       scheduler_.line_at(loads_.front().access.site, loads_.front().access.frame));
}

void Asynchronous::end_thread() {
  auto& bulk = of_threads_[static_cast<size_t>(CopyKind::bulk)];
  if (bulk.empty()) return;  // most kernels have none, and this is asked for each thread
  const auto mine = bulk.find(scheduler_.thread());
  if (mine == bulk.end()) return;
  const bool left = !mine->second.open.empty() ||
                    std::ranges::any_of(mine->second.groups, [](const Group& group) { return !group.copies.empty(); });
  if (left) {
    scheduler_.raise(FaultKind::race,
                     "the thread returns while a bulk store of its own still reads shared memory; commit it and wait "
                     "for its group");
  }
}

bool Asynchronous::go_on() {
  if (!can_go_on()) return false;
  while (!loads_.empty()) perform_loads(loads_.front().barrier);
  while (tensor_cores_.has_commits()) end_products(tensor_cores_.complete_oldest());
  return true;
}

std::optional<Asynchronous::Stuck> Asynchronous::stuck() const {
  for (const auto& of_block : named_) {
    for (size_t id = 0; id < of_block.size(); ++id) {
      const NamedBarrier& barrier = of_block[id];
      if (barrier.waiters.empty()) continue;
      return Stuck{barrier.waiters.first, scheduler_.describe(barrier.waiters.first->thread) +
                                              " waits at the named barrier " + std::to_string(id) + ", where " +
                                              std::to_string(barrier.arrived) + " of " +
                                              std::to_string(barrier.threads) + " threads have arrived"};
    }
  }
  // Where bytes are missing is more likely the cause than where only threads are.
  const Mbarrier* named = nullptr;
  SharedAddress address = 0;
  for (const auto& [at, barrier] : barriers_) {
    if (barrier.waiters.empty() || (named != nullptr && (named->bytes != 0 || barrier.bytes == 0))) continue;
    named = &barrier;
    address = at;
  }
  if (named != nullptr) {
    const Mbarrier& barrier = *named;
    return Stuck{barrier.waiters.first,
                 scheduler_.describe(barrier.waiters.first->thread) + " waits at the mbarrier at " + shown(address) +
                     " for phase " + std::to_string(barrier.phase) + ", which lacks " +
                     std::to_string(barrier.pending) + " of " + std::to_string(barrier.arrivals) + " arrivals and " +
                     std::to_string(barrier.bytes) + " bytes"};
  }
  return std::nullopt;
}

// ---- Barriers

void Asynchronous::named_barrier(uint32_t id, uint32_t threads, bool waits) {
  auto& of_block = named_[static_cast<size_t>(scheduler_.block())];
  if (id >= of_block.size()) scheduler_.raise(FaultKind::invalid_launch, "there are named barriers 0 to 15");
  NamedBarrier& barrier = of_block[id];
  if (threads == 0 || threads % scheduler_.lanes_in_warp() != 0) {
    scheduler_.raise(FaultKind::deadlock,
                     "a named barrier of " + std::to_string(threads) + " threads; it takes whole warps");
  }
  if (barrier.arrived == 0) barrier.threads = threads;
  if (barrier.threads != threads) {
    scheduler_.raise(FaultKind::deadlock, "threads meet at the named barrier " + std::to_string(id) + " for " +
                                              std::to_string(barrier.threads) + " threads and for " +
                                              std::to_string(threads));
  }
  scheduler_.tell(barrier.known);
  if (++barrier.arrived < threads) {
    if (waits) {
      scheduler_.wait_in(barrier.waiters);
    }
    return;
  }
  if (scheduler_.checks()) {
    for (const Scheduler::Slot* slot = barrier.waiters.first; slot != nullptr; slot = slot->next) {
      scheduler_.clocks().learn(scheduler_.in_cluster(*slot), barrier.known);
    }
    if (waits) scheduler_.clocks().learn(scheduler_.thread(), barrier.known);
  }
  scheduler_.wake(barrier.waiters);
  barrier = {};
}

SharedAddress Asynchronous::map(SharedAddress address, int64_t rank) const {
  if (rank < 0 || rank >= scheduler_.cluster_blocks()) {
    scheduler_.raise(FaultKind::out_of_bounds, "the cluster has no block of rank " + std::to_string(rank));
  }
  return (address & kWithinBlock) | static_cast<uint32_t>(rank + 1) << 24;
}

Asynchronous::Mbarrier& Asynchronous::barrier_at(SharedAddress& address) {
  address = mapped(address);
  const auto found = barriers_.find(address);
  if (found == barriers_.end()) {
    scheduler_.raise(FaultKind::uninitialised,
                     "there is no mbarrier at " + shown(address) + ": nothing initialised it");
  }
  if (scheduler_.checks()) {
    check_access(place(address, 8, 8), 8, Access::atomic_update, scheduler_.site(), scheduler_.frame());
  }
  return found->second;
}

Asynchronous::Mbarrier& Asynchronous::barrier_of_copy(SharedAddress& address) {
  Mbarrier& barrier = barrier_at(address);
  if (!scheduler_.checks() || barrier.fenced) return barrier;
  // Another thread has met the one that initialised it. Its own fence will do if it came behind that.
  const int64_t thread = scheduler_.thread();
  barrier.fenced =
      barrier.initialised_by != thread && scheduler_.clocks().active() && scheduler_.clocks().fenced_last(thread);
  if (!barrier.fenced) {
    scheduler_.raise(FaultKind::race, "a copy reports to the mbarrier at " + shown(address) + ", which " +
                                          scheduler_.describe(barrier.initialised_by) +
                                          " initialised with no fence.mbarrier_init or fence.proxy.async behind it");
  }
  return barrier;
}

void Asynchronous::init(SharedAddress address, uint32_t arrivals) {
  address = mapped(address);
  std::byte* bytes = place(address, 8, 8);
  if (arrivals == 0 || arrivals >= 1u << 20) {
    scheduler_.raise(FaultKind::invalid_launch,
                     "an mbarrier of " + std::to_string(arrivals) + " arrivals; it counts 1 to 1048575");
  }
  if (scheduler_.checks()) check_access(bytes, 8, Access::write, scheduler_.site(), scheduler_.frame());
  std::memset(bytes, 0, 8);
  refuse_waiters(address);
  const auto index = static_cast<int64_t>(barriers_.size());
  Mbarrier& barrier = barriers_.insert_or_assign(address, Mbarrier{}).first->second;
  barrier.arrivals = barrier.pending = arrivals;
  barrier.index = index;
  barrier.initialised_by = scheduler_.thread();
  ++unfenced_;
}

void Asynchronous::invalidate(SharedAddress address) {
  barrier_at(address);
  refuse_waiters(address);
  barriers_.erase(address);
}

void Asynchronous::refuse_waiters(SharedAddress address) {
  const auto found = barriers_.find(address);
  if (found == barriers_.end() || found->second.waiters.empty()) return;
  scheduler_.raise(FaultKind::race,
                   "an mbarrier is initialised or invalidated at " + shown(address) + ", where a thread waits");
}

uint64_t Asynchronous::arrive(SharedAddress address, uint32_t arrivals, int64_t bytes, bool leaves) {
  Mbarrier& barrier = barrier_at(address);
  const uint64_t phase = barrier.phase;
  scheduler_.note_progress();
  scheduler_.tell(barrier.known);
  barrier.bytes += bytes;
  barrier.pending -= arrivals;
  if (leaves) barrier.arrivals -= arrivals;
  if (barrier.pending < 0) {
    scheduler_.raise(FaultKind::deadlock, "more threads arrive at the mbarrier at " + shown(address) + " than the " +
                                              std::to_string(barrier.arrivals) + " of a phase");
  }
  end_phase_if_done(barrier);
  return phase;
}

void Asynchronous::expect(SharedAddress address, int64_t bytes) { barrier_at(address).bytes += bytes; }

void Asynchronous::end_phase_if_done(Mbarrier& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.arrivals;
  barrier.completed = barrier.known;
  scheduler_.wake(barrier.waiters);
}

bool Asynchronous::wait(SharedAddress address, uint64_t phase, bool is_parity, bool blocks) {
  const auto ended = [&](const Mbarrier& barrier) {
    return is_parity ? (barrier.phase & 1) != (phase & 1) : barrier.phase != phase;
  };
  Mbarrier& barrier = barrier_at(address);
  if (!ended(barrier)) perform_loads(address);
  for (bool any = true; any && !ended(barrier);) {
    const TensorCores::Completion completion = tensor_cores_.complete_at(address);
    any = completion.any;
    if (any) end_products(completion);
  }
  if (!ended(barrier)) {
    if (!blocks) {
      scheduler_.yield();
      return false;
    }
    scheduler_.wait_in(barrier.waiters);
  }
  learn(barrier.completed);
  return true;
}

void Asynchronous::arrive_after_products(SharedAddress address) {
  barrier_at(address);
  tensor_cores_.commit(address);
}

void Asynchronous::end_products(const TensorCores::Completion& completion) {
  const auto found = barriers_.find(completion.barrier);
  if (found == barriers_.end()) return;  // invalidated in the meantime
  Mbarrier& barrier = found->second;
  if (scheduler_.checks()) {
    Clocks::Known end(static_cast<size_t>(completion.agent) + 1, 0);
    end.back() = completion.epoch;
    Clocks::join(barrier.known, end);
  }
  if (--barrier.pending < 0) {
    scheduler_.raise(FaultKind::deadlock, "tcgen05.commit makes more arrivals at the mbarrier at " +
                                              shown(completion.barrier) + " than the " +
                                              std::to_string(barrier.arrivals) + " of a phase");
  }
  end_phase_if_done(barrier);
}

void Asynchronous::learn(const Clocks::Known& known) {
  if (scheduler_.checks() && !known.empty()) scheduler_.clocks().learn(scheduler_.thread(), known);
}

void Asynchronous::fence() {
  fence_barriers();
  if (scheduler_.checks()) scheduler_.fence_proxy();
}

void Asynchronous::fence_barriers() {
  if (unfenced_ == 0) return;
  unfenced_ = 0;
  for (auto& [address, barrier] : barriers_) {
    barrier.fenced = barrier.fenced || barrier.initialised_by == scheduler_.thread();
    unfenced_ += barrier.fenced ? 0 : 1;
  }
}

}  // namespace sandbox::cpu::runtime
