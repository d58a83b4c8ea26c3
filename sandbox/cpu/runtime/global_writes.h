// Records which block wrote which global memory of a launch. Blocks run one after another here, so a race between them
// need not change their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sandbox/cpu/runtime/module.h"

namespace sandbox::cpu::runtime {

class GlobalWrites {
 public:
  void begin_launch(const std::vector<Buffer>& buffers);
  void begin_block();
  // The running block synchronises with others by an atomic operation, a fence or a volatile access. From then on it is
  // trusted.
  void synchronise() { synchronised_ = true; }

  // A write of the running block; `atomic`: other blocks may read it.
  void write(size_t buffer, size_t offset, size_t bytes, bool atomic);
  // Whether the running block may read this: not what another block of this launch wrote, unless something orders the
  // two.
  bool may_read(size_t buffer, size_t offset, size_t bytes) const;

 private:
  static constexpr size_t kGranule = 2;  // bytes; of smaller accesses nothing is kept

  std::vector<std::vector<uint32_t>> writers_;  // by buffer: the block that last wrote each granule, 0 for nobody
  uint32_t block_ = 0, first_ = 1;              // running; the first of this launch
  bool synchronised_ = false;
};

}  // namespace sandbox::cpu::runtime
