#include "verifier/cuda/judge_kernels.h"

#include <algorithm>
#include <cmath>

#include "core/paths.h"
#include "core/text.h"

namespace verifier::cuda {

std::string judge_kernels_source(const std::filesystem::path& folder) {
  std::string source;
  for (const char* part : {"judge_common.cu", "judge_inputs.cu", "judge_poison.cu", "judge_statistics.cu"}) {
    source += core::read_file(folder / part) + "\n";
  }
  return source;
}

FillArgs fill_args(const benchsuite::Tensor& tensor, const core::Bindings& axes, Distribution distribution,
                   uint64_t key) {
  const benchsuite::InputInit& init = tensor.init;
  return {static_cast<int64_t>(tensor.dtype),
          static_cast<int64_t>(init.kind),
          static_cast<int64_t>(distribution),
          tensor.elements(axes),
          tensor.shape.back().eval(axes),
          init.scale,
          init.low,
          init.high,
          init.least.eval(axes),
          init.most.eval(axes),
          key};
}

Survivors joined(std::span<const Survivors> partials) {
  Survivors all;
  for (const Survivors& one : partials) {
    if (one.count == 0) continue;
    all.first = all.count == 0 ? one.first : std::min(all.first, one.first);
    all.count += one.count;
  }
  return all;
}

Moments joined(std::span<const Moments> partials) {
  Moments all;
  for (const Moments& one : partials) {
    all.squares += one.squares;
    all.count += one.count;
  }
  return all;
}

Difference joined(std::span<const Difference> partials) {
  Difference all;
  for (const Difference& one : partials) {
    all.largest = std::max(all.largest, one.largest);
    all.squares += one.squares;
  }
  return all;
}

int64_t joined(std::span<const int64_t> partials) {
  int64_t all = 0;
  for (const int64_t one : partials) all += one;
  return all;
}

}  // namespace verifier::cuda
