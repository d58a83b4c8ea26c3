// The order of the blocks of a grid. CUDA guarantees none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sandbox/cpu/runtime/module.h"

namespace sandbox::cpu::runtime {

class BlockOrder {
 public:
  BlockOrder(int64_t blocks, Order order, uint64_t seed);

  // The flat index of the next block, each once; nullopt after the last.
  std::optional<int64_t> next();

 private:
  int64_t blocks_;
  bool reverse_;
  std::vector<int32_t> runs_;  // of consecutive blocks, in the order in which they are to run
  size_t run_ = 0;             // the one in progress
  int64_t done_ = 0;           // blocks of it
};

}  // namespace sandbox::cpu::runtime
