#include "sandbox/cpu/runtime/scheduler.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "sandbox/cpu/runtime/asynchronous.h"
#include "sandbox/cpu/runtime/block_order.h"
#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/device_state.h"

namespace sandbox::cpu::runtime {

Scheduler::Scheduler(size_t stack_bytes) : stack_bytes_(stack_bytes) {}
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
    indices_[static_cast<size_t>(t)] = {static_cast<unsigned>(p[0]), static_cast<unsigned>(p[1]),
                                        static_cast<unsigned>(p[2])};
  }
  warp_bits_ = launch.warp_lanes == 64 ? 6 : 5;
  last_lane_ = (size_t{1} << warp_bits_) - 1;
  whole_warp_ = launch.warp_lanes == 64 ? ~Lanes{0} : 0xffffffff;
  cluster_blocks_ = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  cluster_threads_ = threads_ * cluster_blocks_;
  const int64_t in_grid = launch.grid[0] * launch.grid[1] * launch.grid[2];
  const int64_t blocks = launch.cooperative ? in_grid : cluster_blocks_ * launch.together;
  switches_ = launch.seed;
  late_stores_.begin_launch();
  const auto lanes = static_cast<int64_t>(lanes_in_warp());
  stride_ = blocks > 1 ? (threads_ + lanes - 1) / lanes * lanes : threads_;
  make_room(launch.cooperative ? threads_ * blocks : 0);
  blocks_ = std::vector<Block>(static_cast<size_t>(blocks));
  clusters_.resize(static_cast<size_t>(blocks / cluster_blocks_));
  for (Cluster& cluster : clusters_) {
    if (cluster.asynchronous == nullptr) cluster.asynchronous = std::make_unique<Asynchronous>(*this);
  }
  aside_.resize(blocks > 1 ? static_cast<size_t>(blocks) * launch.shared.size() : 0);
  for (page_bits_ = 12; launch.shared.size() >> page_bits_ >= 64;) ++page_bits_;
  warps_.assign(warp_of(stride_ * blocks - 1) + 1, Warp{});
  make_order();
  __kw_block_dim = {static_cast<unsigned>(launch.block[0]), static_cast<unsigned>(launch.block[1]),
                    static_cast<unsigned>(launch.block[2])};
  __kw_grid_dim = {static_cast<unsigned>(launch.grid[0]), static_cast<unsigned>(launch.grid[1]),
                   static_cast<unsigned>(launch.grid[2])};
  __kw_cluster_dim = {static_cast<unsigned>(launch.cluster[0]), static_cast<unsigned>(launch.cluster[1]),
                      static_cast<unsigned>(launch.cluster[2])};
  __kw_dynamic_shared_bytes = static_cast<unsigned>(launch.dynamic_shared_bytes);
  running_scheduler_pointer = this;
  BlockOrder clusters(in_grid / cluster_blocks_, launch.order, launch.seed);
  while (!fault_) {
    const std::optional<int64_t> cluster = clusters.next();
    if (!cluster) break;
    begin_blocks(clusters, *cluster);
    run_blocks();
  }
  running_scheduler_pointer = nullptr;
  launch_ = nullptr;
  if (fault_) slots_.clear();  // abandoned in the middle of things
  return fault_;
}

// A cooperative launch may need more stacks than a process may map each by itself. `threads`: 0 for other launches.
void Scheduler::make_room(int64_t threads) {
  const size_t bytes = cooperative_stack_bytes(threads, stack_bytes_);
  if (threads == 0 ? arena_ == nullptr
                   : arena_ != nullptr && arena_->stacks() > static_cast<size_t>(threads) && arena_->bytes() == bytes)
    return;
  slots_.clear();
  arena_ = threads == 0 ? nullptr : std::make_unique<memory::StackArena>(static_cast<size_t>(threads) + 1, bytes);
}

void Scheduler::make_order() {
  permutation_.clear();
  if (launch_->order != Order::seeded) return;
  permutation_.resize(static_cast<size_t>(threads_));
  std::iota(permutation_.begin(), permutation_.end(), 0);
  std::shuffle(permutation_.begin(), permutation_.end(), std::mt19937_64(launch_->seed));
}

void Scheduler::begin_blocks(BlockOrder& clusters, int64_t first_of_all) {
  launch_->begin_block(launch_->user);
  const auto& extent = launch_->cluster;
  running_block_ = first_block_ = 0;
  current_thread_ = first_thread_ = 0;
  cluster_ = clusters_.data();
  alive_ = threads_ * static_cast<int64_t>(blocks_.size());
  quiet_ = blocks_.size() == 1 && !checks();
  quiet_started_ = 0;
  int64_t next = 0;
  std::optional<int64_t> place = first_of_all;
  for (size_t c = 0; c < clusters_.size(); ++c) {
    if (c > 0) place = clusters.next();
    const bool is_left = place.has_value();  // of the last that run together, some may be missing
    const int64_t first = place.value_or(0);
    const auto in_grid =
        position(first, {launch_->grid[0] / extent[0], launch_->grid[1] / extent[1], launch_->grid[2] / extent[2]});
    Cluster& cluster = clusters_[c];
    cluster.epoch = last_epoch_ + 1;
    cluster.at_barrier = SlotList{};
    cluster.arrived = 0;
    cluster.has_met = false;
    cluster.alive = is_left ? cluster_threads_ : 0;
    if (!is_left) alive_ -= cluster_threads_;
    for (int64_t rank = 0; rank < cluster_blocks_; ++rank, ++next) {
      Block& block = blocks_[static_cast<size_t>(next)];
      const auto within = position(rank, extent);
      block = Block{};
      for (size_t d = 0; d < 3; ++d) block.index[d] = static_cast<unsigned>(in_grid[d] * extent[d] + within[d]);
      block.alive = is_left ? threads_ : 0;
      block.started = is_left ? 0 : threads_;
      block.epoch = ++last_epoch_;
      block.published = cluster.epoch;
      if (blocks_.size() > 1) std::memcpy(aside_of(next), launch_->shared.data(), launch_->shared.size());
    }
    cluster.asynchronous->begin_block();
    if (checks()) {
      cluster.clocks.begin_block(cluster_threads_, static_cast<int64_t>(warps_.size() / clusters_.size()));
    }
  }
  const auto& index = blocks_[0].index;
  __kw_block_index = {index[0], index[1], index[2]};
  idle_ = at_grid_ = SlotList{};
  arrived_at_grid_ = returned_blocks_ = spinning_ = 0;
  rounds_in_vain_ = in_vain_ = 0;
  cluster_phases_.assign(static_cast<size_t>(stride_) * blocks_.size(), 0);
  for (Cluster& cluster : clusters_) cluster.phase = 0;
  for (const auto& slot : slots_) idle_.push(slot.get());
  const size_t warps_of_block = warps_.size() / blocks_.size();
  for (size_t w = 0; w < warps_.size(); ++w) {
    const bool is_missing = blocks_[w / warps_of_block].alive == 0;
    const size_t behind = static_cast<size_t>(threads_) - w % warps_of_block * lanes_in_warp();
    warps_[w].alive = is_missing ? 0 : behind >= lanes_in_warp() ? whole_warp_ : (Lanes{1} << behind) - 1;
    warps_[w].open = 0;
    warps_[w].asking = 0;
    warps_[w].askers = SlotList{};
    warps_[w].synced.common_epoch = warps_[w].met.common_epoch = ++warps_[w].epoch;
  }
}

void Scheduler::run_blocks() {
  // Fibers switch to one another; they come back here when the blocks are done or stuck.
  resume(fresh_slot());
  memory::switch_stacks(scheduler_sp_, current_->fiber.sp(), current_->fiber.bounds());
  if (!fault_ && alive_ > 0) report_deadlock();
  for (const Cluster& cluster : clusters_) {
    if (!fault_) cluster.asynchronous->end_block();
  }
  if (!fault_ && launch_->end_block != nullptr) launch_->end_block(launch_->user);
}

void Scheduler::wake(SlotList& list) {
  if (blocks_.size() == 1) {
    blocks_[0].ready.append(list);
  } else {
    while (!list.empty()) ready(list.pop());
  }
  list = SlotList{};
}

Scheduler::Slot* Scheduler::fresh_slot() {
  if (idle_.empty()) {
    slots_.push_back(arena_ != nullptr ? std::make_unique<Slot>(arena_->stack(slots_.size()))
                                       : std::make_unique<Slot>(stack_bytes_));
    idle_.push(slots_.back().get());
  }
  Slot* slot = idle_.pop();
  slot->thread = -1;
  slot->polls = slot->polls_there = 0;
  if (std::exchange(slot->launch, launches_) != launches_ && !keeps_stacks_) {
    slot->fiber.overwrite(static_cast<uint8_t>(launch_->seed >> 48));
  }
  slot->fiber.restart(&Scheduler::fiber_main);
  return slot;
}

// Threads that can go on come before new ones: a warp stays together; and so does a block.
Scheduler::Slot* Scheduler::next_runnable() {
  do {
    int64_t block = running_block_;
    for (size_t turn = 0; turn < blocks_.size(); ++turn, block = block_after(block)) {
      Block& candidate = blocks_[static_cast<size_t>(block)];
      if (!candidate.ready.empty()) return candidate.ready.pop();
      if (candidate.started < threads_) {
        enter(block);
        return fresh_slot();
      }
    }
  } while (copies_go_on() || answer_active_masks() || part_converged() || spinners_go_on());
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
    memory::switch_stacks(mine->fiber.sp(), scheduler_sp_, scheduler_stack_);
  } else {
    resume(next);
    if (next != mine) memory::switch_stacks(mine->fiber.sp(), next->fiber.sp(), next->fiber.bounds());
  }
}

void Scheduler::end_fiber() {
  Slot* mine = current_;
  mine->thread = -1;
  Slot* next = next_runnable();  // not this one: its stack is still in use
  idle_.push(mine);
  if (next == nullptr) {
    memory::switch_stacks(mine->fiber.sp(), scheduler_sp_, scheduler_stack_);
  } else {
    resume(next);
    memory::switch_stacks(mine->fiber.sp(), next->fiber.sp(), next->fiber.bounds());
  }
  __builtin_unreachable();  // an idle fiber is restarted, never resumed
}

void Scheduler::fiber_main() {
  const memory::StackBounds left = memory::arrive_on_new_stack();
  Scheduler& self = *running_scheduler_pointer;
  if (self.scheduler_stack_.end == 0) self.scheduler_stack_ = left;  // the first fiber of all comes from there
  self.launch_->run(self.launch_->args);
  self.end_fiber();
}

void Scheduler::set_thread(int64_t thread) {
  ++turn_;
  current_thread_ = thread;
  if (blocks_.size() > 1) enter(block_of(thread));
  __kw_thread_index = indices_[static_cast<size_t>(blocks_.size() == 1 ? thread : thread % stride_)];
}

// All that began have returned, but the running one.
void Scheduler::end_quiet() {
  quiet_ = false;
  const int64_t returned = std::max<int64_t>(quiet_started_ - 1, 0);
  Block& block = own_block();
  block.started = quiet_started_;
  block.alive -= returned;
  alive_ -= returned;
  cluster_->alive -= returned;
  for (int64_t nth = 0; nth < returned; ++nth) {
    const int64_t thread = ordered(nth);
    warps_[warp_of(thread)].alive &= ~(Lanes{1} << lane_of(thread));
  }
}

void Scheduler::end_quiet_block() {
  quiet_ = false;
  Block& block = own_block();
  block.started = threads_;
  block.alive = alive_ = cluster_->alive = 0;
  ++returned_blocks_;
}

bool Scheduler::next_thread_to_watch() {
  pay_late_store();
  if (current_->thread >= 0) {
    finish_thread();
    if (!own_block().ready.empty()) return false;
  }
  if (own_block().started == threads_) return false;
  current_->thread = running_block_ * stride_ + ordered(own_block().started++);
  set_thread(current_->thread);
  note_progress();
  return true;
}

void Scheduler::finish_thread() {
  asynchronous().end_thread();
  Block& block = own_block();
  --block.alive;
  --alive_;
  --cluster_->alive;
  ++progress_;
  Warp& mine = warp();
  mine.alive &= ~lane_bit();
  // Those who wait may have waited for this thread alone. A completed record makes room for the last one.
  for (size_t i = mine.open; i-- > 0;) {
    Record& record = mine.records[i];
    if (missing(mine, record) == 0) complete(mine, record, nullptr);
  }
  if (mine.asking != 0 && mine.asking == mine.alive) answer_active_mask(mine);
  if (block.arrived > 0 && block.arrived == block.alive) release_barrier();
  if (cluster_->arrived > 0 && cluster_->arrived == cluster_->alive) end_cluster_phase();
  if (block.alive == 0) ++returned_blocks_;
  if (arrived_at_grid_ > 0) end_grid_phase_if_done();
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
  if (clocks().active()) clocks().share_agents();
  if (is_cooperative()) note_meeting(running_block_, 1);
}

void Scheduler::yield() {
  if (is_cooperative()) return spin();
  // Where several blocks run, one that spins in each keeps the others from what happens once no thread can go on.
  constexpr int kMostInVain = 1 << 16;
  in_vain_ = progress_ == progress_before_ ? in_vain_ + 1 : 0;
  progress_before_ = progress_;
  if (in_vain_ < kMostInVain && give_way()) return;
  in_vain_ = 0;
  if (!copies_go_on() && blocks_.size() > 1 && !answer_active_masks()) part_converged();
  set_thread(current_->thread);
}

// Unstarted threads go on, too, and those of other blocks.
bool Scheduler::give_way() {
  int64_t block = running_block_;
  for (size_t turn = 1; turn <= blocks_.size(); ++turn) {
    block = block_after(block);
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
    memory::switch_stacks(mine->fiber.sp(), next->fiber.sp(), next->fiber.bounds());
    return true;
  }
  return false;
}

}  // namespace sandbox::cpu::runtime
