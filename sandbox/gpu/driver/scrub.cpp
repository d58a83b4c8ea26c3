#include "sandbox/gpu/driver/scrub.h"

#include <algorithm>

namespace sandbox::gpu::driver {
namespace {
uint64_t random_seed() {
  std::random_device chance;
  return uint64_t{chance()} << 32 | chance();
}
}  // namespace

Scrub::Scrub(const Context& context, const std::string& own_kernels)
    : module_(context, own_kernels),
      shared_(module_.function("kw_scrub_shared")),
      registers_(module_.function("kw_scrub_registers")),
      shared_bytes_(static_cast<unsigned>(context.facts().shared_bytes_per_block)),
      blocks_(2 * static_cast<unsigned>(context.facts().multiprocessors)),
      keys_(random_seed()) {
  shared_.set_attribute(FunctionAttribute::dynamic_shared_bytes, static_cast<int>(shared_bytes_));
  for (size_t i = 0; i < local_.size(); ++i) {
    local_[i] = module_.function("kw_scrub_local_" + std::to_string(kFrames[i]));
  }
}

void Scrub::enqueue(size_t local_bytes) {
  if (local_bytes > 0) {
    const auto* frame =
        std::lower_bound(std::begin(kFrames), std::end(kFrames) - 1, std::max(local_bytes, kStackBytes));
    local_[static_cast<size_t>(frame - kFrames)](blocks_, 1024u, uint64_t{keys_()});
  }
  registers_(blocks_, 256u, uint64_t{keys_()});
  // Each block takes all shared memory of a multiprocessor, so that each multiprocessor gets one block.
  LaunchConfig config;
  config.grid[0] = blocks_;
  config.block[0] = 256;
  config.shared_bytes = shared_bytes_;
  unsigned words = shared_bytes_ / sizeof(unsigned);
  uint64_t key = keys_();
  void* parameters[] = {&key, &words, nullptr};
  shared_.launch(config, parameters);
}

}  // namespace sandbox::gpu::driver
