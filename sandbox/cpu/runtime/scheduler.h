// Runs the threads of one block after another on one OS thread; those of the blocks of a cluster, of a few clusters, or
// of a cooperative launch's whole grid, by turns. Fibers are lazy: one fiber takes CUDA threads in turn until one of
// them waits, so a kernel without barriers is a plain loop.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/cpu/memory/clocks.h"
#include "sandbox/cpu/memory/fiber.h"
#include "sandbox/cpu/runtime/device_state.h"
#include "sandbox/cpu/runtime/late_stores.h"
#include "sandbox/cpu/runtime/module.h"
#include "sandbox/fault.h"

namespace sandbox::cpu::runtime {

using memory::Clocks;
using Lanes = uint64_t;  // a set of the lanes of a warp
constexpr size_t kMostLanes = 64;
using WarpCombine = void (*)(void* const* lanes, Lanes active);

// The coordinates of the nth of so many, x first.
inline std::array<int64_t, 3> position(int64_t nth, const std::array<int64_t, 3>& extent) {
  return {nth % extent[0], nth / extent[0] % extent[1], nth / (extent[0] * extent[1])};
}

// The launch, for the scheduler and the signal handler.
struct LaunchContext {
  std::string kernel;
  std::array<int64_t, 3> grid, block, cluster{1, 1, 1};
  bool cooperative = false;  // the blocks of the whole grid run together. Only where the build checks
  int64_t together = 1;      // so many clusters run together. Only where the build checks
  // Threads switch at drawn atomic and volatile accesses, so that what is read before one may be another's afterwards.
  // Only where the build checks.
  bool switches = false;
  size_t dynamic_shared_bytes = 0;
  int warp_lanes = 32;  // or 64
  void (*run)(void** args) = nullptr;
  void** args = nullptr;
  const std::vector<Buffer>* buffers = nullptr;
  Order order = Order::forward;
  uint64_t seed = 0;
  std::span<std::byte> shared;                    // of the module; the running block's
  std::vector<std::span<std::byte>> used_shared;  // what of it this launch uses
  void (*begin_block)(void* user) = nullptr;      // poisons shared memory; once for those that run together
  void (*end_block)(void* user) = nullptr;        // of the checking build: may record a fault
  void* user = nullptr;
};

// How many threads a cooperative launch may have, whose stacks all exist at once, and how large each stack is. It has
// no stack of more than `most` bytes.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kForSanitizer = 4;  // our own frames are larger
#else
constexpr size_t kForSanitizer = 1;
#endif
constexpr size_t kAllStacks = kForSanitizer * (size_t{2} << 30), kLeastStack = kForSanitizer * (size_t{12} << 10);
constexpr int64_t kMostCooperativeThreads = kAllStacks / kLeastStack;
inline size_t cooperative_stack_bytes(int64_t threads, size_t most) {
  constexpr size_t kPage = 4096;
  return threads == 0 ? most : std::min(most, kAllStacks / static_cast<size_t>(threads) / kPage * kPage);
}

class Asynchronous;
class BlockOrder;

class Scheduler {
 public:
  struct Slot {  // a fiber and the CUDA thread it carries
    explicit Slot(size_t stack_bytes) : fiber(stack_bytes) {}
    explicit Slot(memory::StackBounds stack) : fiber(stack) {}
    memory::Fiber fiber;
    int64_t thread = -1;
    uint64_t launch = 0;   // the last one that used it
    Slot* next = nullptr;  // in the list it is in
    const void *site = nullptr, *frame = nullptr;
    Lanes active_mask = 0;                  // the answer to its last question
    const volatile void* polled = nullptr;  // where it read last what others may write meanwhile
    unsigned polls = 0, polls_there = 0;    // since its last write; in a row, at that place
  };
  struct SlotList {  // first in, first out
    Slot *first = nullptr, *last = nullptr;

    bool empty() const { return first == nullptr; }
    void push(Slot* slot) {
      slot->next = nullptr;
      (first == nullptr ? first : last->next) = slot;
      last = slot;
    }
    Slot* pop() {
      Slot* slot = first;
      first = slot->next;
      return slot;
    }
    void append(const SlotList& more) {
      if (more.empty()) return;
      (first == nullptr ? first : last->next) = more.first;
      last = more.last;
    }
  };

  explicit Scheduler(size_t stack_bytes);
  ~Scheduler();

  std::optional<Fault> run(const LaunchContext& launch);
  // Threads may find on their stacks what earlier launches left there.
  void keep_stacks() { keeps_stacks_ = true; }

  // Called by device code (device_calls.cpp) on the running fiber.
  bool next_thread() { return quiet_ ? next_quiet_thread() : next_thread_to_watch(); }
  int barrier(int kind, int predicate);
  void sync_warp(Lanes mask);
  void warp_call(const char* name, Lanes mask, WarpCombine combine, void* mine);
  // By the lanes that come to this place together. `combine`: null for a mere meeting, which orders their accesses.
  void converged_call(const char* name, WarpCombine combine, void* mine);
  Lanes active_mask();
  void yield();
  bool give_way();  // false when no other thread can go on
  // Before an ordered load, which may be one of a loop that waits.
  void poll();
  // In a cooperative launch: the running thread reads this place, which others may write meanwhile, or updates it
  // without changing it. It lets others go on if that looks like waiting for them.
  void note_poll(const volatile void* place, const void* site, const void* frame);
  // Before an atomic or volatile access of the running thread: others may go on first, where the launch has threads
  // switch.
  void may_switch(const void* address, const void* site, const void* frame);
  // Before an atomic or volatile write to global memory by the running thread (late_stores.h).
  void note_store(std::byte* place, size_t bytes, bool is_store) {
    if (launch_->together == 1 && !is_cooperative()) return;
    late_stores_.before_write(place, bytes, turn_, is_store, draw() >> 63 != 0);
  }
  void note_fence() { late_stores_.fence(); }
  // Before all else that the running thread does.
  void pay_late_store() {
    if (late_stores_.is_owed()) let_others_run_before_it();
  }
  // The running thread changes what others may wait for.
  void note_progress() {
    ++progress_;
    current_->polls = current_->polls_there = 0;
  }
  // The place in device code of the running thread: the return address, and the frame of its caller.
  void set_site(const void* site, const void* frame) {
    current_->site = site;
    current_->frame = frame;
  }
  void mute() { ++muted_; }
  void unmute() { --muted_; }
  bool muted() const { return muted_ > 0; }

  // Records the fault with which leave() ends the launch. Fills in kernel, block and thread, and the line of set_site()
  // when none is given.
  void set_fault(FaultKind kind, std::string message, std::optional<int64_t> line);
  Fault fault_here(FaultKind kind, std::string message, std::optional<int64_t> line) const;
  // Attributes the next fault to this thread, which ran just before.
  void blame(int64_t thread) { current_thread_ = first_thread_ + thread; }
  void blame_running() {
    if (current_->thread >= 0) current_thread_ = current_->thread;
  }
  // Every call from device code but next_thread() does this first. Until the block ends, a thread that returns then
  // releases those that wait for it.
  void watch_threads() {
    if (quiet_) end_quiet();
  }
  // Abandons the block. Nothing on the stack is destroyed: hold no memory when calling it. Also from a signal handler.
  [[noreturn]] void leave();
  // Both at once.
  [[noreturn]] void raise(FaultKind kind, std::string message);

  const LaunchContext* launch() const { return launch_; }
  // Whether `address` lies on the running thread's stack, or in the page below it.
  bool on_stack(uintptr_t address) const { return current_ != nullptr && current_->fiber.holds(address); }
  bool below_stack(uintptr_t address) const;
  // Whether a plain access needs no more checks: it is to the frames of the running thread, from `frame` on, and
  // nothing is due before it.
  bool is_of_own_frames(uintptr_t address, uintptr_t frame) const {
    return address >= frame && current_ != nullptr && address < current_->fiber.stack_end() && !late_stores_.is_owed();
  }
  // Whether the running thread leaves too little of a stack that no unmapped page guards.
  bool stack_is_used_up() const {
    return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < current_->fiber.lowest_frame();
  }
  size_t stack_bytes() const { return current_->fiber.stack_end() - current_->fiber.stack_begin(); }

  // The line of the solution at `site`, or else at its nearest caller that has one. Needs frame pointers: the checking
  // build.
  std::optional<int64_t> line_at(const void* site, const void* frame) const;
  std::string describe(int64_t thread) const;  // "thread (31,0,0)"

  // Named barriers, mbarriers and copies of the running block's cluster.
  Asynchronous& asynchronous() { return *cluster_->asynchronous; }
  // The running thread waits until the list is woken.
  void wait_in(SlotList& list) {
    list.push(current_);
    wait();
  }
  void wake(SlotList& list);

  // The blocks of a cluster run by turns, and so do clusters that run together. That block which runs has the
  // module's shared memory, the others have theirs aside. Ranks of blocks and numbers of threads are those in the
  // cluster, except where they are said to be in all that runs together.
  int64_t block() const { return block_of(current_thread_) - first_block_; }
  int64_t running_block() const { return running_block_ - first_block_; }
  int64_t cluster_blocks() const { return cluster_blocks_; }
  int64_t first_block() const { return first_block_; }  // of the cluster in all that runs together
  int64_t first_thread() const { return first_thread_; }
  bool is_cooperative() const { return launch_->cooperative; }
  int64_t in_cluster(const Slot& slot) const { return slot.thread % (stride_ * cluster_blocks_); }
  // A block of all that run together touches the module's shared memory there, from this offset on. Told by the
  // checking build, so that no more need be moved when another block runs.
  void note_touched(int64_t block, size_t offset, size_t bytes) {
    uint64_t& pages = blocks_[static_cast<size_t>(block)].touched;
    for (size_t page = offset >> page_bits_; page <= (offset + bytes - 1) >> page_bits_; ++page) {
      pages |= uint64_t{1} << page;
    }
  }
  // The same place in the shared memory of a block of this rank. Ends the launch with a Fault if it has returned.
  std::byte* shared_of(int64_t rank, const std::byte* own);
  // Of an address that lies aside: the block's rank, and the place in the module's shared memory.
  std::optional<std::pair<int64_t, uintptr_t>> aside(uintptr_t address) const {
    const uintptr_t offset = address - reinterpret_cast<uintptr_t>(aside_.data());
    if (offset >= aside_.size()) return std::nullopt;
    const size_t bytes = launch_->shared.size();
    const int64_t rank = static_cast<int64_t>(offset / bytes) - first_block_;
    if (rank < 0 || rank >= cluster_blocks_) return std::nullopt;
    return std::pair(rank, offset % bytes + reinterpret_cast<uintptr_t>(launch_->shared.data()));
  }
  void arrive_at_cluster(bool relaxed);
  void wait_for_cluster();
  void meet_in_grid();                              // the barrier of a cooperative launch's grid
  std::string describe_block(int64_t block) const;  // "block (3,0,0)"; of all that run together

  // For the checking build: who runs, and what orders memory accesses.
  bool checks() const { return launch_->end_block != nullptr; }
  int64_t thread() const { return current_thread_ - first_thread_; }
  const void* site() const { return current_->site; }
  const void* frame() const { return current_->frame; }
  Clocks& clocks() { return cluster_->clocks; }
  const Clocks& clocks() const { return cluster_->clocks; }
  // Tells `to` all that the running thread knows, its own accesses so far among it. Only where the build checks.
  void tell(Clocks::Known& to);
  void fence_proxy();  // of the running thread
  uint32_t epoch() const { return blocks_[static_cast<size_t>(block_of(current_thread_))].epoch; }
  // What a thread of another block did before this epoch is ordered before what follows.
  uint32_t cluster_epoch() const { return cluster_->epoch; }
  // Other blocks may read what this thread wrote before this epoch. The epoch is older than the cluster's if the
  // thread's block has since only arrived relaxed, with no fence.
  uint32_t published_epoch(int64_t thread) const {
    return blocks_[static_cast<size_t>(block_of(first_thread_ + thread))].published;
  }
  void publish() { own_block().publishes = true; }  // when the cluster meets next, what the running block wrote
  // Whether all blocks of the running cluster have begun for sure.
  bool cluster_has_met() const { return cluster_->has_met; }
  bool in_one_block(int64_t a, int64_t b) const { return block_of(a) == block_of(b); }
  uint32_t warp_epoch() const { return warps_[warp_of(current_thread_)].epoch; }
  bool in_one_warp(int64_t a, int64_t b) const { return warp_of(a) == warp_of(b); }
  size_t warp_of(int64_t thread) const { return static_cast<size_t>(thread) >> warp_bits_; }
  size_t lanes_in_warp() const { return last_lane_ + 1; }
  size_t warps_of_block() const { return warps_.size() / blocks_.size(); }
  // The warp epoch before which all accesses of this thread, of the running thread's warp, are ordered before its next
  // one. `met`: before which its reads are ordered before the running thread's next write; a shuffle or vote does that,
  // too, since lanes issue what stands behind it after what stood before it.
  uint32_t known_warp_epoch(int64_t thread, bool met) const;

 private:
  struct Block {
    std::array<unsigned, 3> index{};
    int64_t started = 0, alive = 0;  // threads
    SlotList ready, at_barrier;
    SlotList spinning;    // they go on when no other thread can
    int64_t arrived = 0;  // threads at the barrier
    int64_t asking = 0;   // threads in __activemask
    int64_t parted = 0;   // threads in a converged_call() that waits for others
    int barrier_kind = 0, barrier_count = 0;
    int barrier_result = 0;  // of the last one that was released: the next one waits until all have read it
    uint32_t epoch = 0, published = 0;
    bool publishes = false;
    uint64_t touched = 0;  // pages of shared memory

    bool can_go_on(int64_t threads) const { return !ready.empty() || started < threads; }
  };
  struct Cluster {
    std::unique_ptr<Asynchronous> asynchronous;
    Clocks clocks;
    SlotList at_barrier;
    int64_t arrived = 0, alive = 0;  // threads
    uint64_t phase = 0;
    uint32_t epoch = 0;
    bool has_met = false;
  };
  struct Record {  // a warp operation in progress
    Lanes mask = 0, arrived = 0;
    const void* site = nullptr;  // of a converged_call(); null for one with a mask
    const char* name = nullptr;
    WarpCombine combine = nullptr;  // null for __syncwarp
    std::array<void*, kMostLanes> lanes{};
    std::array<Slot*, kMostLanes> slots{};
  };
  // Which accesses of a warp's lanes are ordered.
  struct LaneOrder {
    uint32_t common_epoch = 0;  // what any lane did before it is known to all
    // By lane, and only where masks left lanes out: before which epoch it knows what each other lane did.
    std::vector<std::array<uint32_t, kMostLanes>> known;
  };
  struct Warp {
    Lanes alive = 0;        // lanes that exist and have not returned
    uint32_t epoch = 0;     // the number of warp operations, whatever their masks
    LaneOrder synced, met;  // by __syncwarp; by any warp operation
    size_t open = 0;        // how many of the records are in progress
    std::vector<Record> records;
    Lanes asking = 0;  // lanes that wait in __activemask
    SlotList askers;
  };

  // A block is quiet until one of its threads makes a call: they run one after the other, and nobody waits.
  bool next_quiet_thread() {
    if (quiet_started_ == threads_) {
      end_quiet_block();
      return false;
    }
    current_->thread = current_thread_ = ordered(quiet_started_++);
    __kw_thread_index = indices_[static_cast<size_t>(current_thread_)];
    return true;
  }
  bool next_thread_to_watch();
  void end_quiet();
  void end_quiet_block();
  static void fiber_main();
  void begin_blocks(BlockOrder& clusters, int64_t first_of_all);
  void make_room(int64_t threads);
  void run_blocks();
  void enter(int64_t block);
  void move_shared(int64_t block);
  std::byte* aside_of(int64_t block) { return aside_.data() + static_cast<size_t>(block) * launch_->shared.size(); }
  Slot* fresh_slot();
  Slot* next_runnable();  // null when no thread can go on
  void wait();            // the running fiber is in some list; another one goes on
  void end_fiber();
  void resume(Slot* slot);
  void finish_thread();
  void set_thread(int64_t thread);
  int64_t ordered(int64_t nth) const {
    if (launch_->order == Order::reverse) return threads_ - 1 - nth;
    return permutation_.empty() ? nth : permutation_[static_cast<size_t>(nth)];
  }
  int64_t block_of(int64_t thread) const { return blocks_.size() == 1 ? 0 : thread / stride_; }
  // In turn. (A remainder takes longer than all else that a switch does.)
  int64_t block_after(int64_t block) const { return block + 1 == static_cast<int64_t>(blocks_.size()) ? 0 : block + 1; }
  Cluster& cluster_of(int64_t block) { return clusters_[static_cast<size_t>(block / cluster_blocks_)]; }
  Block& own_block() { return blocks_[static_cast<size_t>(running_block_)]; }
  void ready(Slot* slot) { blocks_[static_cast<size_t>(block_of(slot->thread))].ready.push(slot); }
  void end_cluster_phase();
  void end_grid_phase_if_done();
  void let_others_run_before_it();  // before the late store is seen
  uint64_t draw() { return switches_ = switches_ * 6364136223846793005u + 1442695040888963407u; }
  void spin();  // the running thread goes on when no other can
  bool copies_go_on();
  bool spinners_go_on();  // false when none spin, or when they have spun in vain for long
  void make_order();
  void release_barrier();
  Record& record_of(Warp& warp, Lanes mask, const void* site, const char* name, WarpCombine combine);
  void arrive(Warp& warp, Record& record, size_t lane, void* mine);
  // The lanes that a record still waits for.
  static Lanes missing(const Warp& warp, const Record& record) { return record.mask & warp.alive & ~record.arrived; }
  void complete(Warp& warp, Record& record, Slot* last_arriver);
  void order_lanes(const Warp& warp, LaneOrder& order, Lanes lanes) const;
  void share_clocks(const Record& record);  // of a __syncwarp
  void answer_active_mask(Warp& warp);
  bool answer_active_masks();  // of every warp; false when nobody asks
  bool part_converged();       // lanes that will not come together go on without the others; false when none wait so
  void report_deadlock();
  size_t lane_of(int64_t thread) const { return static_cast<size_t>(thread) & last_lane_; }
  Lanes lane_bit() const { return Lanes{1} << lane_of(current_thread_); }
  Warp& warp() { return warps_[warp_of(current_thread_)]; }

  size_t stack_bytes_;
  bool keeps_stacks_ = false;
  const LaunchContext* launch_ = nullptr;
  void* scheduler_sp_ = nullptr;
  memory::StackBounds scheduler_stack_;
  std::unique_ptr<memory::StackArena> arena_;  // of the stacks of a cooperative launch; else null
  std::vector<std::unique_ptr<Slot>> slots_;
  SlotList idle_;
  Slot* current_ = nullptr;
  int64_t current_thread_ = 0;  // its number in all that runs together

  int64_t threads_ = 0;           // of a block
  int64_t stride_ = 0;            // from a block's first thread to the next one's: of whole warps where several run
  std::vector<Block> blocks_{1};  // that run together: of a cluster, or of the grid
  int64_t cluster_blocks_ = 1, cluster_threads_ = 0;
  std::vector<Cluster> clusters_;
  std::vector<std::byte> aside_;  // the shared memory of each of several blocks while another one runs
  unsigned page_bits_ = 12;       // so that shared memory has no more than 64 pages
  int64_t running_block_ = 0;
  Cluster* cluster_ = nullptr;                  // the running block's
  int64_t first_block_ = 0, first_thread_ = 0;  // of that
  std::vector<int32_t> permutation_;            // seeded order only
  std::vector<DeviceIndex> indices_;            // of the threads of a block
  std::vector<Warp> warps_;                     // of all blocks
  unsigned warp_bits_ = 5;                      // 2 to this many lanes in a warp
  size_t last_lane_ = 31;
  Lanes whole_warp_ = 0xffffffff;
  bool quiet_ = false;
  int64_t quiet_started_ = 0;             // threads of a quiet block
  int64_t alive_ = 0;                     // threads
  std::vector<uint64_t> cluster_phases_;  // by thread: that of its last arrival
  SlotList at_grid_;
  int64_t arrived_at_grid_ = 0, returned_blocks_ = 0;
  int64_t spinning_ = 0;
  uint64_t progress_ = 0, progress_before_ = 0;  // now, and when all that spin went on last
  int rounds_in_vain_ = 0;                       // of all that spin
  int in_vain_ = 0;                              // calls of yield() since anything changed
  uint32_t last_epoch_ = 0;
  uint64_t launches_ = 0;
  uint64_t switches_ = 0;  // what draws them
  uint64_t turn_ = 0;      // of threads that run, between one switch and the next
  LateStores late_stores_;
  int muted_ = 0;
  std::optional<Fault> fault_;
};

// The scheduler of the launch in progress, for device code's entry points and signals; null between launches. One
// launch at a time per process.
inline Scheduler* running_scheduler_pointer = nullptr;
inline Scheduler* running_scheduler() {
  if (running_scheduler_pointer != nullptr) {
    running_scheduler_pointer->watch_threads();
    running_scheduler_pointer->pay_late_store();
  }
  return running_scheduler_pointer;
}

// Handles SIGSEGV, SIGBUS, SIGILL and SIGFPE on a separate stack from now on. Outside a launch they end the process
// with 128 plus their number. Later calls do nothing.
void install_signal_handlers();

// Does nothing. Calling it makes the linker keep the entry points of device code, which none of our code calls.
void keep_device_calls();

// "0 bytes past the end of 'y' (4 bytes)", "at offset 8 of 'x' (4000 bytes)", "an address that belongs to no buffer":
// of the nearest buffer, when one is near.
std::string place_of(uintptr_t address, const std::vector<Buffer>& buffers);

}  // namespace sandbox::cpu::runtime
