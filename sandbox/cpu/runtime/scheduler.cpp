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
  const int64_t blocks = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  blocks_ = std::vector<Block>(static_cast<size_t>(blocks));
  warps_.assign(warp_of(threads_ * blocks - 1) + 1, Warp{});
  make_order();
  __kw_block_dim = {static_cast<unsigned>(launch.block[0]), static_cast<unsigned>(launch.block[1]),
                    static_cast<unsigned>(launch.block[2])};
  __kw_grid_dim = {static_cast<unsigned>(launch.grid[0]), static_cast<unsigned>(launch.grid[1]),
                   static_cast<unsigned>(launch.grid[2])};
  __kw_cluster_dim = {static_cast<unsigned>(launch.cluster[0]), static_cast<unsigned>(launch.cluster[1]),
                      static_cast<unsigned>(launch.cluster[2])};
  __kw_dynamic_shared_bytes = static_cast<unsigned>(launch.dynamic_shared_bytes);
  running_scheduler_pointer = this;
  BlockOrder clusters(launch.grid[0] * launch.grid[1] * launch.grid[2] / blocks, launch.order, launch.seed);
  while (!fault_) {
    const std::optional<int64_t> cluster = clusters.next();
    if (!cluster) break;
    begin_blocks(*cluster);
    run_blocks();
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

void Scheduler::begin_blocks(int64_t cluster) {
  launch_->begin_block(launch_->user);
  const auto& extent = launch_->cluster;
  const auto first = position(cluster, {launch_->grid[0] / extent[0], launch_->grid[1] / extent[1],
                                        launch_->grid[2] / extent[2]});
  running_block_ = 0;
  current_thread_ = 0;
  cluster_epoch_ = last_epoch_ + 1;
  for (size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    const auto within = position(static_cast<int64_t>(b), extent);
    std::vector<std::byte> aside = std::move(block.aside);
    block = Block{};
    block.aside = std::move(aside);
    for (size_t d = 0; d < 3; ++d) block.index[d] = static_cast<unsigned>(first[d] * extent[d] + within[d]);
    block.alive = threads_;
    block.epoch = ++last_epoch_;
    if (blocks_.size() > 1) block.aside.assign(launch_->shared.begin(), launch_->shared.end());
  }
  const auto& index = blocks_[0].index;
  __kw_block_index = {index[0], index[1], index[2]};
  arrived_at_cluster_ = 0;
  alive_in_cluster_ = threads_ * cluster_blocks();
  at_cluster_ = idle_ = SlotList{};
  cluster_phases_.assign(static_cast<size_t>(alive_in_cluster_), cluster_phase_);
  for (const auto& slot : slots_) idle_.push(slot.get());
  const size_t warps_of_block = warps_.size() / blocks_.size();
  for (size_t w = 0; w < warps_.size(); ++w) {
    const size_t behind = static_cast<size_t>(threads_) - w % warps_of_block * lanes_in_warp();
    warps_[w].alive = behind >= lanes_in_warp() ? whole_warp_ : (Lanes{1} << behind) - 1;
    warps_[w].open = 0;
    warps_[w].asking = 0;
    warps_[w].askers = SlotList{};
    warps_[w].synced.common_epoch = warps_[w].met.common_epoch = ++warps_[w].epoch;
  }
  asynchronous_->begin_block();
  if (checks()) clocks_.begin_block(alive_in_cluster_, static_cast<int64_t>(warps_.size()));
}

void Scheduler::run_blocks() {
  // Fibers switch to one another; they come back here when the blocks are done or stuck.
  resume(fresh_slot());
  switch_stacks(scheduler_sp_, current_->fiber.sp(), current_->fiber.bounds());
  if (!fault_ && alive_in_cluster_ > 0) report_deadlock();
  if (!fault_) asynchronous_->end_block();
  if (!fault_ && launch_->end_block != nullptr) launch_->end_block(launch_->user);
}

// The module's shared memory is another block's from here on.
void Scheduler::enter(int64_t block) {
  if (block == running_block_) return;
  const auto exchange = [&](Block& with, bool back) {
    for (const std::span<std::byte> part : launch_->used_shared) {
      std::byte* aside = with.aside.data() + (part.data() - launch_->shared.data());
      std::memcpy(back ? part.data() : aside, back ? aside : part.data(), part.size());
    }
  };
  exchange(own_block(), false);
  running_block_ = block;
  exchange(own_block(), true);
  const auto& index = own_block().index;
  __kw_block_index = {index[0], index[1], index[2]};
}

std::byte* Scheduler::shared_of(int64_t rank, const std::byte* own) {
  if (rank == running_block_) return const_cast<std::byte*>(own);
  Block& other = blocks_[static_cast<size_t>(rank)];
  if (other.alive == 0) {
    raise(FaultKind::race, "the shared memory of block " + std::to_string(rank) +
                               " of the cluster is used after all of its threads have returned; let the cluster meet "
                               "at the end");
  }
  return other.aside.data() + (own - launch_->shared.data());
}

std::optional<std::pair<int64_t, uintptr_t>> Scheduler::aside(uintptr_t address) const {
  if (blocks_.size() == 1) return std::nullopt;
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const auto begin = reinterpret_cast<uintptr_t>(blocks_[b].aside.data());
    if (address < begin || address >= begin + blocks_[b].aside.size()) continue;
    return std::pair(static_cast<int64_t>(b),
                     address - begin + reinterpret_cast<uintptr_t>(launch_->shared.data()));
  }
  return std::nullopt;
}

void Scheduler::wake(SlotList& list) {
  if (blocks_.size() == 1) {
    blocks_[0].ready.append(list);
  } else {
    while (!list.empty()) ready(list.pop());
  }
  list = SlotList{};
}

void Scheduler::arrive_at_cluster() {
  cluster_phases_[static_cast<size_t>(current_thread_)] = cluster_phase_ + 1;
  if (++arrived_at_cluster_ == alive_in_cluster_) end_cluster_phase();
}

void Scheduler::wait_for_cluster() {
  const uint64_t mine = cluster_phases_[static_cast<size_t>(current_thread_)];
  if (mine <= cluster_phase_) return;
  wait_in(at_cluster_);
}

void Scheduler::end_cluster_phase() {
  ++cluster_phase_;
  arrived_at_cluster_ = 0;
  cluster_epoch_ = last_epoch_ + 1;
  for (Block& block : blocks_) block.epoch = ++last_epoch_;
  if (clocks_.active()) clocks_.share_agents();
  wake(at_cluster_);
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

// Threads that can go on come before new ones: a warp stays together; and so does a block.
Scheduler::Slot* Scheduler::next_runnable() {
  do {
    for (int64_t turn = 0; turn < cluster_blocks(); ++turn) {
      const int64_t block = (running_block_ + turn) % cluster_blocks();
      Block& candidate = blocks_[static_cast<size_t>(block)];
      if (!candidate.ready.empty()) return candidate.ready.pop();
      if (candidate.started < threads_) {
        enter(block);
        return fresh_slot();
      }
    }
  } while (asynchronous_->go_on() || answer_active_masks() || part_converged());
  return nullptr;
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
  } else {
    resume(next);
    if (next != mine) switch_stacks(mine->fiber.sp(), next->fiber.sp(), next->fiber.bounds());
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
  if (blocks_.size() > 1) enter(block_of(thread));
  const auto& index = indices_[static_cast<size_t>(blocks_.size() == 1 ? thread : thread % threads_)];
  __kw_thread_index = {index[0], index[1], index[2]};
}

bool Scheduler::next_thread() {
  if (current_->thread >= 0) {
    finish_thread();
    if (!own_block().ready.empty()) return false;
  }
  if (own_block().started == threads_) return false;
  current_->thread = running_block_ * threads_ + ordered(own_block().started++);
  set_thread(current_->thread);
  return true;
}

void Scheduler::finish_thread() {
  asynchronous_->end_thread();
  Block& block = own_block();
  --block.alive;
  --alive_in_cluster_;
  Warp& mine = warp();
  mine.alive &= ~lane_bit();
  // Those who wait may have waited for this thread alone. A completed record makes room for the last one.
  for (size_t i = mine.open; i-- > 0;) {
    Record& record = mine.records[i];
    if (missing(mine, record) == 0) complete(mine, record, nullptr);
  }
  if (mine.asking != 0 && mine.asking == mine.alive) answer_active_mask(mine);
  if (block.arrived > 0 && block.arrived == block.alive) release_barrier();
  if (arrived_at_cluster_ > 0 && arrived_at_cluster_ == alive_in_cluster_) end_cluster_phase();
}

int Scheduler::barrier(int kind, int predicate) {
  Block& block = own_block();
  if (block.arrived == 0) {
    block.barrier_kind = kind;
    block.barrier_count = 0;
  } else if (kind != block.barrier_kind) {
    raise(FaultKind::deadlock, "threads of one block wait at different kinds of __syncthreads");
  }
  block.barrier_count += predicate != 0;
  ++block.arrived;
  if (block.arrived == block.alive) {
    release_barrier();
  } else {
    block.at_barrier.push(current_);
    wait();
  }
  return block.barrier_result;
}

void Scheduler::release_barrier() {
  Block& block = own_block();
  const bool all = block.barrier_count == block.arrived, any = block.barrier_count > 0;
  block.barrier_result = block.barrier_kind == 1 ? block.barrier_count : block.barrier_kind == 2 ? all : any;
  block.ready.append(block.at_barrier);
  block.at_barrier = SlotList{};
  block.arrived = 0;
  block.epoch = ++last_epoch_;
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
  ++own_block().asking;
  if (own.asking == own.alive) answer_active_mask(own);
  wait();
  return mine->active_mask;
}

void Scheduler::answer_active_mask(Warp& own) {
  for (Slot* slot = own.askers.first; slot != nullptr; slot = slot->next) {
    slot->active_mask = own.asking;
    --blocks_[static_cast<size_t>(block_of(slot->thread))].asking;
  }
  wake(own.askers);
  own.asking = 0;
}

bool Scheduler::answer_active_masks() {
  if (std::ranges::all_of(blocks_, [](const Block& block) { return block.asking == 0; })) return false;
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
  ++own_block().parted;
  arrive(own, record_of(own, whole_warp_, current_->site, name, combine), lane_of(current_thread_), mine);
}

bool Scheduler::part_converged() {
  if (std::ranges::all_of(blocks_, [](const Block& block) { return block.parted == 0; })) return false;
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
    if (slot != last_arriver) ready(slot);
    if (record.site != nullptr) --blocks_[static_cast<size_t>(block_of(slot->thread))].parted;
  }
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
    if (thread >= clocks_.threads()) break;
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
  // A thread that spins must let the others go on, unstarted ones and those of other blocks, too.
  for (int64_t turn = 1; turn <= cluster_blocks(); ++turn) {
    const int64_t block = (running_block_ + turn) % cluster_blocks();
    Block& candidate = blocks_[static_cast<size_t>(block)];
    if (!candidate.can_go_on(threads_)) continue;
    Slot* mine = current_;
    Slot* next = nullptr;
    if (!candidate.ready.empty()) {
      next = candidate.ready.pop();
    } else {
      enter(block);
      next = fresh_slot();
    }
    ready(mine);
    resume(next);
    switch_stacks(mine->fiber.sp(), next->fiber.sp(), next->fiber.bounds());
    return;
  }
  asynchronous_->go_on();
}

void Scheduler::report_deadlock() {
  std::string message;
  Slot* named = nullptr;  // the thread that the report is about
  for (const Block& block : blocks_) {
    if (block.at_barrier.empty() || named != nullptr) continue;
    named = block.at_barrier.first;
    message = std::to_string(block.arrived) + " of " + std::to_string(block.alive) +
              " threads wait in __syncthreads, " + describe(named->thread) + " among them";
  }
  const bool at_barrier = named != nullptr;
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
  if (!at_cluster_.empty()) {
    if (named == nullptr) named = at_cluster_.first;
    message += (message.empty() ? "" : "; ") + std::to_string(arrived_at_cluster_) + " of " +
               std::to_string(alive_in_cluster_) + " threads have arrived at the cluster's barrier";
  }
  current_ = named;
  current_thread_ = named->thread;
  set_fault(disagreement && !at_barrier ? FaultKind::warp_misuse : FaultKind::deadlock, std::move(message), {});
}

void Scheduler::set_fault(FaultKind kind, std::string message, std::optional<int64_t> line) {
  if (!line && current_ != nullptr) line = line_at(current_->site, current_->frame);
  Fault fault{kind, std::move(message), launch_->kernel, {}, {}, line};
  const auto& block = blocks_[static_cast<size_t>(block_of(current_thread_))].index;
  fault.block = {block[0], block[1], block[2]};
  fault.thread = position(current_thread_ % threads_, launch_->block);
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
  const auto p = position(thread % threads_, launch_->block);
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
