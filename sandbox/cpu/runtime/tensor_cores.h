// Tensor memory and the products of matrices that go on into it while their thread does other work (tcgen05). Products
// are carried out as late as they may be, when somebody waits at the mbarrier that hears of them, so that a missing
// wait shows in the result; the checking build also judges what they and loads touch against what their threads knew.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "sandbox/cpu/runtime/check.h"
#include "sandbox/cpu/runtime/scheduler.h"

namespace sandbox::cpu::runtime {

class Asynchronous;
using TensorAddress = uint32_t;  // the lane in the upper half, the column in the lower one

class TensorCores {
 public:
  explicit TensorCores(Scheduler& scheduler) : scheduler_(scheduler) {}

  void begin_block();
  // Threads of the block have all returned: products that nobody waited for, or memory that is not freed, are a fault.
  void end_block();
  bool in_use() const { return !blocks_.empty(); }

  // All lanes of a warp call these.
  void allocate(uint32_t to, uint32_t columns);
  void free(TensorAddress first, uint32_t columns);
  void relinquish();
  // Words of the lane that the running thread's lane has in its warp's quarter. Until wait_for_loads() the places hold
  // a number that nobody computed.
  void load(void* const* places, uint32_t count, TensorAddress from);
  void wait_for_loads();

  // One thread calls these. `what`: the instruction descriptor.
  void multiply(TensorAddress d, uint64_t a, uint64_t b, uint32_t what, bool adds);
  // The mbarrier, a mapped address, is to hear of the end of the running thread's products so far.
  void commit(uint32_t barrier);

  // The oldest commit that is to report to this mbarrier, or to any: its products are carried out. Whom it tells what
  // is known then.
  struct Completion {
    bool any = false;
    uint32_t barrier = 0;
    int64_t agent = 0;
    uint32_t epoch = 0;
  };
  Completion complete_at(uint32_t barrier);
  Completion complete_oldest();
  bool has_commits() const { return !commits_.empty(); }

 private:
  static constexpr uint32_t kLanes = 128, kColumns = 512;
  struct Reader {
    bool any = false, done = false;  // done: it has waited for the load
    int64_t first_thread = 0;        // of its warp
    uint32_t block_epoch = 0, warp_epoch = 0;
    const void *site = nullptr, *frame = nullptr;
  };
  struct Column {
    uint32_t allocation = 0;  // its number; 0: free
    bool written = false;     // by a product that has at least begun
    int64_t agent = 0;        // the last one that writes it
    uint32_t epoch = 0;
    const void *site = nullptr, *frame = nullptr;
    std::array<Reader, 4> readers;  // by quarter
  };
  struct Block {
    std::vector<float> words;  // by lane, then column
    std::vector<Column> columns;
    uint32_t allocations = 0;
    bool relinquished = false;
    const void *site = nullptr, *frame = nullptr;  // of the last allocation
  };
  struct Product {
    int64_t block = 0;
    TensorAddress d = 0;
    uint64_t a = 0, b = 0;
    uint32_t what = 0;
    bool adds = false;
    AsyncAccess access;
  };
  struct Thread {
    uint64_t begun = 0, done = 0;  // products
    std::deque<Product> products;  // that are not done
  };
  struct Commit {
    uint32_t barrier = 0;
    int64_t thread = 0;
    uint64_t upto = 0;  // of the thread's products
    int64_t agent = 0;
    uint32_t epoch = 0;
  };
  struct Loads {  // of a thread, that it has not waited for
    std::vector<void*> places;
    std::vector<float> words;
    std::vector<TensorAddress> from;  // a pair of these for each load: the first column and the one past the last
  };
  struct Call;  // of one lane

  Block& block();
  Column* columns_at(TensorAddress first, uint32_t count, const char* what);
  void in_warp(const char* name, Call& call);
  static void carry_out(void* const* lanes, Lanes active);
  void allocate_for_warp(Call& call);
  void free_for_warp(const Call& call);
  void load_for_warp(void* const* lanes);
  void end_loads_of_warp(void* const* lanes);
  void check_read(const Column& column) const;
  bool is_behind(const Reader& reader, const AsyncAccess& access) const;
  Completion complete(std::deque<Commit>::iterator commit);
  void carry_out(const Product& product);
  int64_t agent() const;
  uint32_t& epoch();  // of what the running thread's warp begins
  int64_t first_thread() const;

  Scheduler& scheduler_;
  std::vector<Block> blocks_;  // by rank; none while nobody has allocated
  std::unordered_map<int64_t, Thread> threads_;
  std::unordered_map<int64_t, uint32_t> epochs_;  // by agent
  std::unordered_map<int64_t, Loads> loads_;      // by thread
  std::deque<Commit> commits_;
};

}  // namespace sandbox::cpu::runtime
