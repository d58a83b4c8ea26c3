// Named barriers, mbarriers in shared memory, and copies that go on while their threads do other work. A copy is
// carried out as late as it may be, when somebody waits for it, so that a missing wait shows in the result; the
// checking build judges its accesses against what its thread knew when it began.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/scheduler.h"
#include "sandbox/cpu/runtime/tensor_cores.h"
#include "sandbox/cpu/runtime/tensor_map_bits.h"

namespace sandbox::cpu::runtime {

// As PTX has it: the upper byte is 0 for memory of the own block, and one more than its rank for that of a block of the
// cluster.
using SharedAddress = uint32_t;
constexpr uint32_t kWithinBlock = 0xffffff;  // the rest of it
inline std::string shown(SharedAddress address) { return "shared address " + std::to_string(address & kWithinBlock); }

// Which copies of a thread: they are counted in groups by kind.
enum class CopyKind {
  small,  // cp.async, into shared memory
  bulk,   // cp.async.bulk and TMA out of shared memory
};

class Asynchronous {
 public:
  explicit Asynchronous(Scheduler& scheduler) : scheduler_(scheduler), tensor_cores_(scheduler) {}

  void begin_block();
  // Threads of the block have all returned: copies that nobody waited for are a fault.
  void end_block();
  // The running thread returns.
  void end_thread();
  // Nothing else in the block can go on: copies and products do. False when there are none.
  bool go_on();
  bool can_go_on() const { return !loads_.empty() || tensor_cores_.has_commits(); }
  // Of those who wait here, for the report of a deadlock; nullopt when nobody does.
  struct Stuck {
    Scheduler::Slot* first;
    std::string message;
  };
  std::optional<Stuck> stuck() const;

  // bar.sync and bar.arrive of a number of threads.
  void named_barrier(uint32_t id, uint32_t threads, bool waits);

  void init(SharedAddress barrier, uint32_t arrivals);
  void invalidate(SharedAddress barrier);
  // Adds bytes that the phase waits for, then arrives. Returns the phase in progress before.
  uint64_t arrive(SharedAddress barrier, uint32_t arrivals, int64_t bytes, bool leaves);
  void expect(SharedAddress barrier, int64_t bytes);
  // Whether the phase that `phase` or a parity names has ended. `blocks`: waits until it has.
  bool wait(SharedAddress barrier, uint64_t phase, bool is_parity, bool blocks);

  // Copies into shared memory that report to a barrier.
  void load_bytes(SharedAddress to, const void* from, uint32_t bytes, SharedAddress barrier);
  void load_box(SharedAddress to, const void* map, const int32_t* at, int rank, SharedAddress barrier);
  // The same into the blocks of these ranks, at the same place of each, which report to the same barrier of each.
  void load_bytes(SharedAddress to, const void* from, uint32_t bytes, SharedAddress barrier, uint32_t ranks);
  void load_box(SharedAddress to, const void* map, const int32_t* at, int rank, SharedAddress barrier, uint32_t ranks);
  // Copies that are counted in groups. `source_bytes`: what follows them is 0.
  void load_small(SharedAddress to, const void* from, uint32_t bytes, uint32_t source_bytes);
  // Device code that updates global memory by what is in shared memory; of its elements, each atomically.
  using Update = void (*)(void* global, const void* shared, uint32_t bytes);
  void store_bytes(void* to, SharedAddress from, uint32_t bytes, Update update = nullptr);
  void store_box(const void* map, const int32_t* at, int rank, SharedAddress from);
  void commit(CopyKind kind);
  // Until no more than `most` groups of this thread are in progress. `all`: those without a group, too.
  void wait_group(CopyKind kind, uint32_t most, bool all);
  // The barrier hears of this thread's copies so far when they end; here, at once.
  void arrive_after_copies(SharedAddress barrier, bool counts);

  // Products of warpgroups: where the sums that belong to these places of the running thread are until they have been
  // waited for. `adds`: to what is there now.
  uint32_t* sums_in_progress(void* const* places, size_t words, bool adds);
  void commit_products();
  void wait_for_products(int64_t agent, uint32_t most);

  // Products of tcgen05.
  TensorCores& tensor_cores() { return tensor_cores_; }
  // The barrier hears of the running thread's products so far when they end.
  void arrive_after_products(SharedAddress barrier);

  void fence();  // of the asynchronous proxy
  // The running thread's initialisations of mbarriers are visible to copies from here on.
  void fence_barriers();

  // For what is about to access shared memory asynchronously for the running thread.
  AsyncAccess issue(int64_t agent, uint32_t epoch);
  uint32_t epoch_of_products() const;  // of the running thread
  // `address` in the shared memory of a block of the cluster.
  SharedAddress map(SharedAddress address, int64_t rank) const;
  // The place of these bytes of shared memory. Ends the launch with a Fault if they are none, or misaligned.
  std::byte* place(SharedAddress address, uint32_t bytes, uint32_t alignment);

  Scheduler& scheduler() { return scheduler_; }

 private:
  struct NamedBarrier {
    uint32_t threads = 0, arrived = 0;
    Scheduler::SlotList waiters;
    Clocks::Known known;
  };
  struct Mbarrier {
    int64_t arrivals = 0, pending = 0, bytes = 0;
    uint64_t phase = 0;
    int64_t index = 0;  // in the order of their first use
    int64_t initialised_by = 0;
    bool fenced = false;  // by that thread, since then
    Scheduler::SlotList waiters;
    Clocks::Known known;      // of those who have arrived
    Clocks::Known completed;  // the same at the end of the last phase
  };
  struct Copy {
    bool loads = true, small = false;
    SharedAddress shared = 0;
    std::byte* global = nullptr;
    uint32_t bytes = 0, source_bytes = 0;
    Update update = nullptr;  // instead of a mere store
    bool boxed = false;
    TensorMapBits map;
    std::array<int32_t, 5> at{};
    SharedAddress barrier = 0;  // of a load, if it is not small
    AsyncAccess access;
  };
  struct Group {
    uint32_t epoch = 0;  // its accesses are of the one before
    std::vector<Copy> copies;
  };
  struct ThreadCopies {
    uint32_t epoch = 1;  // of accesses to come
    std::vector<Copy> open;
    std::deque<Group> groups;
  };
  struct Sums {
    uint32_t group = 0;  // the last one that has products of theirs, by its epoch
    std::vector<void*> places;
    std::vector<uint32_t> words;
  };
  struct ThreadProducts {
    uint32_t epoch = 1;
    std::deque<uint32_t> groups;
    std::unordered_map<void*, Sums> sums;  // that nobody has waited for, by their first place
  };

  SharedAddress mapped(SharedAddress address) const {
    return address >> 24 != 0 ? address : map(address, scheduler_.block());
  }
  Mbarrier& barrier_at(SharedAddress& address);  // which becomes mapped
  Mbarrier& barrier_of_copy(SharedAddress& address);
  void refuse_waiters(SharedAddress address);
  void end_phase_if_done(Mbarrier& barrier);
  bool perform_loads(SharedAddress barrier);
  void end_products(const TensorCores::Completion& completion);
  void perform(const Copy& copy);
  void perform_box(const Copy& copy);
  void move(const Copy& copy, SharedAddress shared, std::byte* global, uint32_t bytes);
  void touch_global(const Copy& copy, std::byte* at, uint32_t bytes);
  Copy begin_copy(int64_t agent, uint32_t epoch = 0);
  const TensorMapBits& map_at(const void* map, int rank);
  void queue(CopyKind kind, Copy copy);
  ThreadCopies& copies_of(CopyKind kind);
  int64_t agent_of(CopyKind kind) const;
  void learn(const Clocks::Known& known);

  Scheduler& scheduler_;
  std::vector<std::array<NamedBarrier, 16>> named_;                      // by block
  std::unordered_map<SharedAddress, Mbarrier> barriers_;                 // by mapped address
  size_t unfenced_ = 0;                                                  // of them, at most
  std::deque<Copy> loads_;                                               // that report to barriers
  std::array<std::unordered_map<int64_t, ThreadCopies>, 2> of_threads_;  // by kind, then thread
  std::unordered_map<int64_t, ThreadProducts> products_;                 // by thread
  TensorCores tensor_cores_;
  std::vector<std::byte> row_;
};

}  // namespace sandbox::cpu::runtime
