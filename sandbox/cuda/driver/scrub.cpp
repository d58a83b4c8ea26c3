#include "sandbox/cuda/driver/scrub.h"

#include <algorithm>

namespace sandbox::cuda::driver {

Scrub::Scrub(const Context& context, const std::string& own_kernels)
    : module_(context, own_kernels),
      shared_(module_.function("kw_scrub_shared")),
      registers_(module_.function("kw_scrub_registers")),
      shared_bytes_(static_cast<unsigned>(context.attribute(Attribute::shared_bytes_opt_in))),
      blocks_(2 * static_cast<unsigned>(context.facts().multiprocessors)) {
  shared_.set_attribute(FunctionAttribute::dynamic_shared_bytes, static_cast<int>(shared_bytes_));
  for (size_t i = 0; i < local_.size(); ++i) {
    local_[i] = module_.function("kw_scrub_local_" + std::to_string(kFrames[i]));
  }
}

void Scrub::enqueue(size_t local_bytes) {
  unsigned pattern = ++pattern_ * 2654435761u;
  if (local_bytes > 0) {
    const auto* frame = std::lower_bound(std::begin(kFrames), std::end(kFrames) - 1, local_bytes);
    local_[static_cast<size_t>(frame - kFrames)](blocks_, 1024u, pattern);
  }
  registers_(blocks_, 256u, pattern);
  // Each block takes all shared memory of a multiprocessor, so that each multiprocessor gets one block.
  LaunchConfig config;
  config.grid[0] = blocks_;
  config.block[0] = 256;
  config.shared_bytes = shared_bytes_;
  unsigned words = shared_bytes_ / sizeof(unsigned);
  void* parameters[] = {&pattern, &words, nullptr};
  shared_.launch(config, parameters);
}

}  // namespace sandbox::cuda::driver
