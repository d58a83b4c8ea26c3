#include "sandbox/cpu/runtime/block_order.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace sandbox::cpu::runtime {
namespace {
// A small grid is shuffled block by block; of a larger one whole runs are, as caches like neighbours.
constexpr int64_t kSeededRuns = 4096, kTimedRuns = 16;

int64_t runs_of(Order order) {
  if (order == Order::seeded) return kSeededRuns;
  return order == Order::timed ? kTimedRuns : 1;
}
}  // namespace

BlockOrder::BlockOrder(int64_t blocks, Order order, uint64_t seed)
    : blocks_(blocks), reverse_(order == Order::reverse), runs_(static_cast<size_t>(std::min(blocks, runs_of(order)))) {
  std::iota(runs_.begin(), runs_.end(), 0);
  if (runs_.size() > 1) std::shuffle(runs_.begin(), runs_.end(), std::mt19937_64(seed));
}

std::optional<int64_t> BlockOrder::next() {
  const auto count = static_cast<int64_t>(runs_.size());
  while (run_ < runs_.size()) {
    const int64_t run = runs_[run_], longer = blocks_ % count;  // the first runs have one block more
    if (done_ < blocks_ / count + (run < longer ? 1 : 0)) {
      const int64_t block = run * (blocks_ / count) + std::min(run, longer) + done_++;
      return reverse_ ? blocks_ - 1 - block : block;
    }
    ++run_;
    done_ = 0;
  }
  return std::nullopt;
}

}  // namespace sandbox::cpu::runtime
