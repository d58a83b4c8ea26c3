#include "sandbox/cpu/runtime/global_writes.h"

#include <algorithm>

namespace sandbox::cpu::runtime {

void GlobalWrites::begin_launch(const std::vector<Buffer>& buffers) {
  writers_.resize(std::max(writers_.size(), buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) {
    const size_t granules = buffers[i].writable ? buffers[i].bytes / kGranule + 1 : 0;
    if (writers_[i].size() < granules) writers_[i].resize(granules);
  }
  first_ = block_ + 1;
}

void GlobalWrites::begin_block() {
  ++block_;
  synchronised_ = false;
}

void GlobalWrites::write(size_t buffer, size_t offset, size_t bytes, bool atomic) {
  const bool kept = !atomic && bytes >= kGranule;
  const auto begin = writers_[buffer].begin() + static_cast<std::ptrdiff_t>(offset / kGranule);
  std::fill_n(begin, (offset + bytes - 1) / kGranule - offset / kGranule + 1, kept ? block_ : 0);
}

bool GlobalWrites::may_read(size_t buffer, size_t offset, size_t bytes) const {
  if (synchronised_ || bytes < kGranule || writers_[buffer].empty()) return true;
  for (size_t at = offset / kGranule; at * kGranule < offset + bytes; ++at) {
    const uint32_t writer = writers_[buffer][at];
    if (writer >= first_ && writer != block_) return false;
  }
  return true;
}

}  // namespace sandbox::cpu::runtime
