#include "sandbox/cpu/runtime/scheduler.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/line_table.h"

namespace sandbox::cpu {
namespace {
std::array<int64_t, 3> position(int64_t flat, const std::array<int64_t, 3>& extent) {
  return {flat % extent[0], flat / extent[0] % extent[1], flat / (extent[0] * extent[1])};
}
}  // namespace

Scheduler*& running_scheduler() {
  static Scheduler* running = nullptr;
  return running;
}

std::optional<Fault> Scheduler::run(const LaunchContext& launch) {
  launch_ = &launch;
  fault_.reset();
  muted_ = 0;
  threads_ = launch.block[0] * launch.block[1] * launch.block[2];
  indices_.resize(static_cast<size_t>(threads_));
  for (int64_t t = 0; t < threads_; ++t) {
    const auto p = position(t, launch.block);
    indices_[static_cast<size_t>(t)] = {static_cast<uint16_t>(p[0]), static_cast<uint16_t>(p[1]),
                                        static_cast<uint16_t>(p[2])};
  }
  warps_.assign(static_cast<size_t>((threads_ + 31) / 32), Warp{});
  make_order();
  __kw_block_dim = {static_cast<unsigned>(launch.block[0]), static_cast<unsigned>(launch.block[1]),
                    static_cast<unsigned>(launch.block[2])};
  __kw_grid_dim = {static_cast<unsigned>(launch.grid[0]), static_cast<unsigned>(launch.grid[1]),
                   static_cast<unsigned>(launch.grid[2])};
  __kw_dynamic_shared_bytes = static_cast<unsigned>(launch.dynamic_shared_bytes);
  running_scheduler() = this;
  // Blocks start in order, as look-back algorithms need; reverse and seeded orders apply to the threads of a block.
  const int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  for (int64_t b = 0; b < blocks && !fault_; ++b) {
    const auto p = position(b, launch.grid);
    __kw_block_index = {static_cast<unsigned>(p[0]), static_cast<unsigned>(p[1]), static_cast<unsigned>(p[2])};
    run_block();
  }
  running_scheduler() = nullptr;
  launch_ = nullptr;
  if (fault_) slots_.clear();  // abandoned in the middle of things
  return fault_;
}

void Scheduler::make_order() {
  permutation_.clear();
  if (launch_->order != Order::seeded) return;
  permutation_.resize(static_cast<size_t>(threads_));
  std::iota(permutation_.begin(), permutation_.end(), 0);
  std::shuffle(permutation_.begin(), permutation_.end(), std::mt19937_64(launch_->seed));
}

int64_t Scheduler::ordered(int64_t nth) const {
  if (launch_->order == Order::forward) return nth;
  if (launch_->order == Order::reverse) return threads_ - 1 - nth;
  return permutation_[static_cast<size_t>(nth)];
}

void Scheduler::run_block() {
  launch_->begin_block(launch_->user);
  ++epoch_;
  started_ = 0;
  alive_ = threads_;
  ready_.clear();
  at_barrier_.clear();
  idle_.clear();
  for (const auto& slot : slots_) idle_.push_back(slot.get());
  for (size_t w = 0; w < warps_.size(); ++w) {
    const int64_t lanes = std::min<int64_t>(32, threads_ - static_cast<int64_t>(w) * 32);
    warps_[w].alive = lanes == 32 ? ~0u : (1u << lanes) - 1;
    warps_[w].pending.clear();
    ++warps_[w].epoch;
  }
  while (!fault_ && (alive_ > 0 || started_ < threads_)) {
    if (!ready_.empty()) {
      Slot* slot = ready_.front();
      ready_.pop_front();
      switch_to(*slot);
    } else if (started_ < threads_) {
      switch_to(fresh_slot());
    } else {
      report_deadlock();
    }
  }
}

Scheduler::Slot& Scheduler::fresh_slot() {
  if (idle_.empty()) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->fiber = std::make_unique<Fiber>(stack_bytes_);
    idle_.push_back(slots_.back().get());
  }
  Slot& slot = *idle_.back();
  idle_.pop_back();
  slot.thread = -1;
  slot.fiber->restart(&Scheduler::fiber_main);
  return slot;
}

void Scheduler::fiber_main() {
  Scheduler& self = *running_scheduler();
  self.launch_->run(self.launch_->args);
  self.idle_.push_back(self.current_);
  self.switch_to_scheduler();
  __builtin_unreachable();  // an idle fiber is restarted, never resumed
}

void Scheduler::switch_to(Slot& slot) {
  current_ = &slot;
  if (slot.thread >= 0) set_thread(slot.thread);
  kw_switch(&scheduler_sp_, slot.fiber->sp());
}

void Scheduler::switch_to_scheduler() {
  Slot* slot = current_;
  kw_switch(&slot->fiber->sp(), scheduler_sp_);
}

void Scheduler::set_thread(int64_t thread) {
  current_thread_ = thread;
  const auto& index = indices_[static_cast<size_t>(thread)];
  __kw_thread_index = {index[0], index[1], index[2]};
}

bool Scheduler::next_thread() {
  const bool finished = current_->thread >= 0;
  if (finished) finish_thread();
  // Threads that were released go on before new ones start: a warp stays together.
  if (started_ == threads_ || (finished && !ready_.empty())) {
    current_->thread = -1;
    return false;
  }
  current_->thread = ordered(started_++);
  set_thread(current_->thread);
  return true;
}

void Scheduler::finish_thread() {
  --alive_;
  Warp& mine = warp();
  mine.alive &= ~lane_bit();
  // Those who wait may have waited for this thread alone.
  for (size_t i = 0; i < mine.pending.size();) {
    if (!try_complete(mine, i, nullptr)) ++i;
  }
  if (!at_barrier_.empty()) try_release_barrier(nullptr);
}

int Scheduler::barrier(int kind, int predicate) {
  if (at_barrier_.empty()) {
    barrier_kind_ = kind;
    barrier_count_ = 0;
    barrier_and_ = 1;
    barrier_or_ = 0;
  } else if (kind != barrier_kind_) {
    raise(FaultKind::deadlock, "threads of one block wait at different kinds of __syncthreads");
  }
  barrier_count_ += predicate != 0;
  barrier_and_ &= predicate != 0;
  barrier_or_ |= predicate != 0;
  Slot* mine = current_;
  at_barrier_.push_back(mine);
  if (static_cast<int64_t>(at_barrier_.size()) == alive_) {
    try_release_barrier(mine);
  } else {
    switch_to_scheduler();
  }
  return mine->barrier_result;
}

void Scheduler::try_release_barrier(Slot* last_arriver) {
  if (static_cast<int64_t>(at_barrier_.size()) != alive_) return;
  const int results[] = {0, barrier_count_, barrier_and_, barrier_or_};
  for (Slot* slot : at_barrier_) {
    slot->barrier_result = results[barrier_kind_];
    if (slot != last_arriver) wake(*slot);
  }
  at_barrier_.clear();
  ++epoch_;
}

void Scheduler::sync_warp(unsigned mask) { warp_call("__syncwarp", mask, nullptr, nullptr); }

unsigned Scheduler::active_mask() const { return warps_[static_cast<size_t>(current_thread_) / 32].alive; }

void Scheduler::warp_call(const char* name, unsigned mask, WarpCombine combine, void* mine) {
  if ((mask & lane_bit()) == 0) {
    raise(FaultKind::warp_misuse, std::string(name) + " is called by a lane that its mask leaves out");
  }
  Warp& own = warp();
  size_t at = 0;
  while (at < own.pending.size() && own.pending[at].mask != mask) ++at;
  if (at == own.pending.size()) {
    own.pending.emplace_back();
    own.pending[at].name = name;
    own.pending[at].mask = mask;
    own.pending[at].combine = combine;
    own.pending[at].sync_only = combine == nullptr;
  }
  Record& record = own.pending[at];
  if (record.combine != combine) {
    raise(FaultKind::warp_misuse,
          std::string("lanes of one warp are in different operations: ") + record.name + " and " + name);
  }
  const auto lane = static_cast<size_t>(current_thread_ % 32);
  record.arrived |= 1u << lane;
  record.lanes[lane] = mine;
  record.slots[lane] = current_;
  if (!try_complete(own, at, current_)) switch_to_scheduler();
}

bool Scheduler::try_complete(Warp& own, size_t at, Slot* last_arriver) {
  Record& record = own.pending[at];
  if ((record.mask & own.alive & ~record.arrived) != 0) return false;
  if (record.combine != nullptr) {
    mute();
    record.combine(record.lanes.data(), record.arrived);
    unmute();
  }
  if (record.sync_only) ++own.epoch;
  for (size_t lane = 0; lane < 32; ++lane) {
    if ((record.arrived >> lane & 1) != 0 && record.slots[lane] != last_arriver) wake(*record.slots[lane]);
  }
  if (at + 1 != own.pending.size()) record = own.pending.back();
  own.pending.pop_back();
  return true;
}

void Scheduler::yield() {
  // A thread that spins must let the others of its block go on, unstarted ones too.
  if (ready_.empty() && started_ < threads_) wake(fresh_slot());
  if (ready_.empty()) return;
  wake(*current_);
  switch_to_scheduler();
}

void Scheduler::report_deadlock() {
  std::string message;
  Slot* named = nullptr;  // the thread that the report is about
  if (!at_barrier_.empty()) {
    named = at_barrier_.front();
    message = std::to_string(at_barrier_.size()) + " of " + std::to_string(alive_) +
              " threads wait in __syncthreads, " + describe(named->thread) + " among them";
  }
  bool disagreement = false;
  for (size_t w = 0; w < warps_.size(); ++w) {
    unsigned waiting = 0;
    for (const Record& record : warps_[w].pending) waiting |= record.arrived;
    for (const Record& record : warps_[w].pending) {
      Slot* slot = record.slots[static_cast<size_t>(__builtin_ctz(record.arrived))];
      const unsigned missing = record.mask & warps_[w].alive & ~record.arrived;
      disagreement = disagreement || (missing & waiting) != 0;
      if (named == nullptr) named = slot;
      if (message.size() > 400) continue;
      message += (message.empty() ? "" : "; ") + describe(slot->thread) + " waits in " + record.name +
                 " for lanes that never come";
    }
  }
  current_ = named;
  current_thread_ = named->thread;
  set_fault(disagreement && at_barrier_.empty() ? FaultKind::warp_misuse : FaultKind::deadlock, std::move(message), {});
}

void Scheduler::set_fault(FaultKind kind, std::string message, std::optional<int64_t> line) {
  if (!line && current_ != nullptr) line = line_at(current_->site, current_->frame);
  Fault fault{kind, std::move(message), launch_->kernel, {}, {}, line};
  fault.block = {__kw_block_index.x, __kw_block_index.y, __kw_block_index.z};
  fault.thread = position(current_thread_, launch_->block);
  fault_ = std::move(fault);
}

void Scheduler::raise(FaultKind kind, std::string message, std::optional<int64_t> line) {
  set_fault(kind, std::move(message), line);
  void* abandoned = nullptr;
  kw_switch(&abandoned, scheduler_sp_);
  __builtin_unreachable();
}

std::string Scheduler::describe(int64_t thread) const {
  const auto p = position(thread, launch_->block);
  return "thread (" + std::to_string(p[0]) + "," + std::to_string(p[1]) + "," + std::to_string(p[2]) + ")";
}

std::optional<int64_t> Scheduler::line_at(const void* site, const void* frame) const {
  constexpr int kMostFrames = 32;
  auto address = reinterpret_cast<uintptr_t>(site);
  auto at = reinterpret_cast<uintptr_t>(frame);
  for (int i = 0; i < kMostFrames; ++i) {
    if (const auto line = line_of(address - 1)) return line;
    // A frame holds the caller's frame and the return address.
    if (at % sizeof(uintptr_t) != 0 || !on_stack(at) || !on_stack(at + 2 * sizeof(uintptr_t) - 1)) break;
    const auto* words = reinterpret_cast<const uintptr_t*>(at);
    at = words[0];
    address = words[1];
  }
  return std::nullopt;
}

bool Scheduler::on_stack(uintptr_t address) const { return current_ != nullptr && current_->fiber->holds(address); }
bool Scheduler::below_stack(uintptr_t address) const { return current_ != nullptr && current_->fiber->guards(address); }

}  // namespace sandbox::cpu
