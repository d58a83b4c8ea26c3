#include "sandbox/cpu/runtime/scheduler.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/block_order.h"
#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/line_table.h"

namespace sandbox::cpu::runtime {
namespace {
std::array<int64_t, 3> position(int64_t flat, const std::array<int64_t, 3>& extent) {
  return {flat % extent[0], flat / extent[0] % extent[1], flat / (extent[0] * extent[1])};
}
}  // namespace

Scheduler::Scheduler(size_t stack_bytes)
    : stack_bytes_(stack_bytes), asynchronous_(std::make_unique<Asynchronous>(*this)) {}
Scheduler::~Scheduler() = default;

std::optional<Fault> Scheduler::run(const LaunchContext& launch) {
  launch_ = &launch;
  ++launches_;
  fault_.reset();
  muted_ = 0;
  threads_ = launch.block[0] * launch.block[1] * launch.block[2];
  indices_.resize(static_cast<size_t>(threads_));
  for (int64_t t = 0; t < threads_; ++t) {
    const auto p = position(t, launch.block);
    indices_[static_cast<size_t>(t)] = {static_cast<uint16_t>(p[0]), static_cast<uint16_t>(p[1]),
                                        static_cast<uint16_t>(p[2])};
  }
  warp_bits_ = launch.warp_lanes == 64 ? 6 : 5;
  last_lane_ = (size_t{1} << warp_bits_) - 1;
  whole_warp_ = launch.warp_lanes == 64 ? ~Lanes{0} : 0xffffffff;
  warps_.assign(warp_of(threads_ - 1) + 1, Warp{});
  make_order();
  __kw_block_dim = {static_cast<unsigned>(launch.block[0]), static_cast<unsigned>(launch.block[1]),
                    static_cast<unsigned>(launch.block[2])};
  __kw_grid_dim = {static_cast<unsigned>(launch.grid[0]), static_cast<unsigned>(launch.grid[1]),
                   static_cast<unsigned>(launch.grid[2])};
  __kw_dynamic_shared_bytes = static_cast<unsigned>(launch.dynamic_shared_bytes);
  running_scheduler_pointer = this;
  BlockOrder blocks(launch.grid[0] * launch.grid[1] * launch.grid[2], launch.order, launch.seed);
  while (!fault_) {
    const std::optional<int64_t> block = blocks.next();
    if (!block) break;
    const auto p = position(*block, launch.grid);
    __kw_block_index = {static_cast<unsigned>(p[0]), static_cast<unsigned>(p[1]), static_cast<unsigned>(p[2])};
    run_block();
  }
  running_scheduler_pointer = nullptr;
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
  if (launch_->order == Order::reverse) return threads_ - 1 - nth;
  return permutation_.empty() ? nth : permutation_[static_cast<size_t>(nth)];
}

void Scheduler::run_block() {
  launch_->begin_block(launch_->user);
  ++epoch_;
  started_ = 0;
  alive_ = threads_;
  arrived_ = 0;
  asking_ = 0;
  parted_ = 0;
  ready_ = at_barrier_ = idle_ = SlotList{};
  for (const auto& slot : slots_) idle_.push(slot.get());
  for (size_t w = 0; w < warps_.size(); ++w) {
    const size_t behind = static_cast<size_t>(threads_) - w * lanes_in_warp();
    warps_[w].alive = behind >= lanes_in_warp() ? whole_warp_ : (Lanes{1} << behind) - 1;
    warps_[w].open = 0;
    warps_[w].asking = 0;
    warps_[w].askers = SlotList{};
    warps_[w].synced.common_epoch = warps_[w].met.common_epoch = ++warps_[w].epoch;
  }
  asynchronous_->begin_block();
  if (checks()) clocks_.begin_block(threads_, static_cast<int64_t>(warps_.size()));
  // Fibers switch to one another; they come back here when the block is done or stuck.
  resume(fresh_slot());
  switch_stacks(scheduler_sp_, current_->fiber.sp(), current_->fiber.bounds());
  if (!fault_ && alive_ > 0) report_deadlock();
  if (!fault_) asynchronous_->end_block();
  if (!fault_ && launch_->end_block != nullptr) launch_->end_block(launch_->user);
}

Scheduler::Slot* Scheduler::fresh_slot() {
  if (idle_.empty()) {
    slots_.push_back(std::make_unique<Slot>(stack_bytes_));
    idle_.push(slots_.back().get());
  }
  Slot* slot = idle_.pop();
  slot->thread = -1;
  if (std::exchange(slot->launch, launches_) != launches_ && !keeps_stacks_) {
    slot->fiber.overwrite(static_cast<uint8_t>(launch_->seed >> 48));
  }
  slot->fiber.restart(&Scheduler::fiber_main);
  return slot;
}

// Threads that can go on come before new ones: a warp stays together.
Scheduler::Slot* Scheduler::next_runnable() {
  if (!ready_.empty()) return ready_.pop();
  if (started_ < threads_) return fresh_slot();
  if (asynchronous_->go_on() && !ready_.empty()) return ready_.pop();
  return answer_active_masks() || part_converged() ? ready_.pop() : nullptr;
}

void Scheduler::resume(Slot* slot) {
  current_ = slot;
  if (slot->thread >= 0) set_thread(slot->thread);
}

void Scheduler::wait() {
  Slot* mine = current_;
  Slot* next = next_runnable();
  if (next == nullptr) {
    switch_stacks(mine->fiber.sp(), scheduler_sp_, scheduler_stack_);
  } else if (next != mine) {
    resume(next);
    switch_stacks(mine->fiber.sp(), next->fiber.sp(), next->fiber.bounds());
  }
}

void Scheduler::end_fiber() {
  Slot* mine = current_;
  mine->thread = -1;
  Slot* next = next_runnable();  // not this one: its stack is still in use
  idle_.push(mine);
  if (next == nullptr) {
    switch_stacks(mine->fiber.sp(), scheduler_sp_, scheduler_stack_);
  } else {
    resume(next);
    switch_stacks(mine->fiber.sp(), next->fiber.sp(), next->fiber.bounds());
  }
  __builtin_unreachable();  // an idle fiber is restarted, never resumed
}

void Scheduler::fiber_main() {
  const StackBounds left = arrive_on_new_stack();
  Scheduler& self = *running_scheduler();
  if (self.scheduler_stack_.end == 0) self.scheduler_stack_ = left;  // the first fiber of all comes from there
  self.launch_->run(self.launch_->args);
  self.end_fiber();
}

void Scheduler::set_thread(int64_t thread) {
  current_thread_ = thread;
  const auto& index = indices_[static_cast<size_t>(thread)];
  __kw_thread_index = {index[0], index[1], index[2]};
}

bool Scheduler::next_thread() {
  if (current_->thread >= 0) {
    finish_thread();
    if (!ready_.empty()) return false;
  }
  if (started_ == threads_) return false;
  current_->thread = ordered(started_++);
  set_thread(current_->thread);
  return true;
}

void Scheduler::finish_thread() {
  asynchronous_->end_thread();
  --alive_;
  Warp& mine = warp();
  mine.alive &= ~lane_bit();
  // Those who wait may have waited for this thread alone. A completed record makes room for the last one.
  for (size_t i = mine.open; i-- > 0;) {
    Record& record = mine.records[i];
    if (missing(mine, record) == 0) complete(mine, record, nullptr);
  }
  if (mine.asking != 0 && mine.asking == mine.alive) answer_active_mask(mine);
  if (arrived_ > 0 && arrived_ == alive_) release_barrier();
}

int Scheduler::barrier(int kind, int predicate) {
  if (arrived_ == 0) {
    barrier_kind_ = kind;
    barrier_count_ = 0;
  } else if (kind != barrier_kind_) {
    raise(FaultKind::deadlock, "threads of one block wait at different kinds of __syncthreads");
  }
  barrier_count_ += predicate != 0;
  ++arrived_;
  if (arrived_ == alive_) {
    release_barrier();
  } else {
    at_barrier_.push(current_);
    wait();
  }
  return barrier_result_;
}

void Scheduler::release_barrier() {
  const bool all = barrier_count_ == arrived_, any = barrier_count_ > 0;
  barrier_result_ = barrier_kind_ == 1 ? barrier_count_ : barrier_kind_ == 2 ? all : any;
  ready_.append(at_barrier_);
  at_barrier_ = SlotList{};
  arrived_ = 0;
  ++epoch_;
  if (clocks_.active()) clocks_.share_agents();
}

void Scheduler::sync_warp(Lanes mask) { warp_call("__syncwarp", mask, nullptr, nullptr); }

// Which lanes run together is known only once those that could still come have waited elsewhere or returned: lanes that
// ask wait until all of their warp ask, or until nothing else in the block can go on.
Lanes Scheduler::active_mask() {
  Warp& own = warp();
  Slot* mine = current_;
  own.asking |= lane_bit();
  own.askers.push(mine);
  ++asking_;
  if (own.asking == own.alive) answer_active_mask(own);
  wait();
  return mine->active_mask;
}

void Scheduler::answer_active_mask(Warp& own) {
  for (Slot* slot = own.askers.first; slot != nullptr; slot = slot->next) {
    slot->active_mask = own.asking;
    --asking_;
  }
  ready_.append(own.askers);
  own.askers = SlotList{};
  own.asking = 0;
}

bool Scheduler::answer_active_masks() {
  if (asking_ == 0) return false;
  for (Warp& warp : warps_) answer_active_mask(warp);
  return true;
}

__attribute__((always_inline)) inline void Scheduler::arrive(Warp& own, Record& record, size_t lane, void* mine) {
  record.arrived |= Lanes{1} << lane;
  record.lanes[lane] = mine;
  record.slots[lane] = current_;
  if (missing(own, record) == 0) {
    complete(own, record, current_);
  } else {
    wait();
  }
}

void Scheduler::warp_call(const char* name, Lanes mask, WarpCombine combine, void* mine) {
  const size_t lane = lane_of(current_thread_);
  mask &= whole_warp_;
  if ((mask >> lane & 1) == 0) {
    raise(FaultKind::warp_misuse, std::string(name) + " is called by a lane that its mask leaves out");
  }
  Warp& own = warp();
  arrive(own, record_of(own, mask, nullptr, name, combine), lane, mine);
}

// Lanes whose paths differ come together again at the place that all of them reach: those at other places wait there,
// as they do on a GPU. When nothing else in the block can go on, those at the first place go on without the others.
void Scheduler::converged_call(const char* name, WarpCombine combine, void* mine) {
  Warp& own = warp();
  ++parted_;
  arrive(own, record_of(own, whole_warp_, current_->site, name, combine), lane_of(current_thread_), mine);
}

bool Scheduler::part_converged() {
  if (parted_ == 0) return false;
  for (Warp& warp : warps_) {
    Record* first = nullptr;  // the lowest address: code that lanes come to later stands behind it
    for (size_t i = 0; i < warp.open; ++i) {
      Record& record = warp.records[i];
      if (record.site != nullptr && (first == nullptr || record.site < first->site)) first = &record;
    }
    if (first != nullptr) complete(warp, *first, nullptr);
  }
  return true;
}

// The operation in progress with this mask, or a new one.
Scheduler::Record& Scheduler::record_of(Warp& own, Lanes mask, const void* site, const char* name,
                                        WarpCombine combine) {
  for (size_t i = 0; i < own.open; ++i) {
    Record& record = own.records[i];
    if (record.mask != mask || record.site != site) continue;
    if (record.combine != combine) {
      raise(FaultKind::warp_misuse,
            std::string("lanes of one warp are in different operations: ") + record.name + " and " + name);
    }
    return record;
  }
  if (own.open == own.records.size()) own.records.emplace_back();
  Record& record = own.records[own.open++];
  record.mask = mask;
  record.site = site;
  record.arrived = 0;
  record.name = name;
  record.combine = combine;
  if (mask != whole_warp_ || own.alive != whole_warp_ || site != nullptr)
    std::fill_n(record.lanes.begin(), lanes_in_warp(), nullptr);
  return record;
}

void Scheduler::complete(Warp& own, Record& record, Slot* last_arriver) {
  if (record.combine != nullptr) {
    mute();
    record.combine(record.lanes.data(), record.arrived);
    unmute();
  }
  if (launch_->end_block != nullptr) {
    ++own.epoch;
    order_lanes(own, own.met, record.arrived);
    if (record.combine == nullptr) {
      order_lanes(own, own.synced, record.arrived);
      if (clocks_.active()) share_clocks(record);
    }
  }
  for (Lanes left = record.arrived; left != 0; left &= left - 1) {
    Slot* slot = record.slots[static_cast<size_t>(__builtin_ctzl(left))];
    if (slot != last_arriver) ready_.push(slot);
  }
  if (record.site != nullptr) parted_ -= __builtin_popcountl(record.arrived);
  Record& last = own.records[--own.open];
  if (&record != &last) std::swap(record, last);
}

// A warp operation by these lanes: each knows now what any of them knew.
void Scheduler::order_lanes(const Warp& own, LaneOrder& order, Lanes lanes) const {
  if ((own.alive & ~lanes) == 0) {
    order.common_epoch = own.epoch;
    return;
  }
  order.known.resize(lanes_in_warp());
  std::array<uint32_t, kMostLanes> joined{};
  const auto for_each = [&](auto&& act) {
    for (Lanes left = lanes; left != 0; left &= left - 1) act(static_cast<size_t>(__builtin_ctzl(left)));
  };
  for_each([&](size_t lane) {
    for (size_t other = 0; other < order.known.size(); ++other)
      joined[other] = std::max(joined[other], order.known[lane][other]);
  });
  for_each([&](size_t lane) { joined[lane] = own.epoch; });
  for_each([&](size_t lane) { order.known[lane] = joined; });
}

void Scheduler::share_clocks(const Record& record) {
  std::vector<int64_t> among;
  for (Lanes left = record.arrived; left != 0; left &= left - 1) {
    among.push_back(record.slots[static_cast<size_t>(__builtin_ctzl(left))]->thread);
  }
  clocks_.share(among);
}

void Scheduler::tell(Clocks::Known& to) {
  if (!checks()) return;
  clocks_.activate();
  Warp& own = warp();
  Clocks::join(to, clocks_.known_by(current_thread_));
  const auto first = current_thread_ - static_cast<int64_t>(lane_of(current_thread_));
  for (size_t lane = 0; lane < lanes_in_warp(); ++lane) {
    const int64_t thread = first + static_cast<int64_t>(lane);
    if (thread >= threads_) break;
    uint32_t& known = to[static_cast<size_t>(thread)];
    known = std::max(known, known_warp_epoch(thread, false));
  }
  to[static_cast<size_t>(current_thread_)] = ++own.epoch;  // its next accesses are of this epoch
}

void Scheduler::fence_proxy() {
  clocks_.activate();
  clocks_.fence(current_thread_, ++warp().epoch);
}

uint32_t Scheduler::known_warp_epoch(int64_t thread, bool met) const {
  const Warp& own = warps_[warp_of(current_thread_)];
  const LaneOrder& order = met ? own.met : own.synced;
  if (order.known.empty()) return order.common_epoch;
  return std::max(order.common_epoch, order.known[lane_of(current_thread_)][lane_of(thread)]);
}

void Scheduler::yield() {
  // A thread that spins must let the others of its block go on, unstarted ones too.
  if (ready_.empty() && started_ == threads_) return;
  Slot* next = next_runnable();
  ready_.push(current_);
  Slot* mine = current_;
  resume(next);
  switch_stacks(mine->fiber.sp(), next->fiber.sp(), next->fiber.bounds());
}

void Scheduler::report_deadlock() {
  std::string message;
  Slot* named = nullptr;  // the thread that the report is about
  if (!at_barrier_.empty()) {
    named = at_barrier_.first;
    message = std::to_string(arrived_) + " of " + std::to_string(alive_) + " threads wait in __syncthreads, " +
              describe(named->thread) + " among them";
  }
  bool disagreement = false;
  for (size_t w = 0; w < warps_.size(); ++w) {
    Lanes waiting = 0;
    for (size_t i = 0; i < warps_[w].open; ++i) waiting |= warps_[w].records[i].arrived;
    for (size_t i = 0; i < warps_[w].open; ++i) {
      const Record& record = warps_[w].records[i];
      Slot* slot = record.slots[static_cast<size_t>(__builtin_ctzl(record.arrived))];
      disagreement = disagreement || (missing(warps_[w], record) & waiting) != 0;
      if (named == nullptr) named = slot;
      if (message.size() > 400) continue;
      message += (message.empty() ? "" : "; ") + describe(slot->thread) + " waits in " + record.name +
                 " for lanes that never come";
    }
  }
  if (const auto stuck = asynchronous_->stuck()) {
    if (named == nullptr) named = stuck->first;
    message += (message.empty() ? "" : "; ") + stuck->message;
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

void Scheduler::leave() {
  void* abandoned = nullptr;
  switch_stacks(abandoned, scheduler_sp_, scheduler_stack_);
  __builtin_unreachable();
}

void Scheduler::raise(FaultKind kind, std::string message) {
  set_fault(kind, std::move(message), std::nullopt);
  leave();
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

bool Scheduler::below_stack(uintptr_t address) const { return current_ != nullptr && current_->fiber.guards(address); }

namespace {
constexpr uintptr_t kNear = uintptr_t{1} << 20;  // bytes
}

std::string place_of(uintptr_t address, const std::vector<Buffer>& buffers) {
  std::string place = "an address that belongs to no buffer";
  uintptr_t nearest = kNear;
  for (const Buffer& buffer : buffers) {
    const auto begin = reinterpret_cast<uintptr_t>(buffer.data), end = begin + buffer.bytes;
    const std::string name = "'" + buffer.name + "' (" + std::to_string(buffer.bytes) + " bytes)";
    if (address >= begin && address < end) return "offset " + std::to_string(address - begin) + " of " + name;
    const uintptr_t distance = address < begin ? begin - address : address - end;
    if (distance >= nearest) continue;
    nearest = distance;
    place = std::to_string(distance) + " bytes " + (address < begin ? "before " : "past the end of ") + name;
  }
  return place;
}

}  // namespace sandbox::cpu::runtime
