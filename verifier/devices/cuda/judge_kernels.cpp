#include "verifier/devices/cuda/judge_kernels.h"

#include <algorithm>
#include <cmath>

#include "core/paths.h"
#include "core/text.h"

namespace verifier::devices::cuda {

std::string judge_kernels_source(const std::filesystem::path& folder) {
  std::string source;
  for (const char* part : {"judge_common.cu", "judge_inputs.cu", "judge_poison.cu", "judge_statistics.cu"}) {
    source += core::read_file(folder / part) + "\n";
  }
  return source;
}

judging::OwnKernels own_kernels(const std::filesystem::path& folder) {
  return {judge_kernels_source(folder), core::read_file(folder / "run_kernels.cu")};
}

FillArgs fill_args(const benchsuite::Tensor& tensor, const core::Bindings& axes, draws::Distribution distribution,
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

draws::Survivors joined(std::span<const draws::Survivors> partials) {
  draws::Survivors all;
  for (const draws::Survivors& one : partials) {
    if (one.count == 0) continue;
    all.first = all.count == 0 ? one.first : std::min(all.first, one.first);
    all.count += one.count;
  }
  return all;
}

comparison::Moments joined(std::span<const comparison::Moments> partials) {
  comparison::Moments all;
  for (const comparison::Moments& one : partials) {
    all.squares += one.squares;
    all.count += one.count;
  }
  return all;
}

comparison::Difference joined(std::span<const comparison::Difference> partials) {
  comparison::Difference all;
  for (const comparison::Difference& one : partials) {
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

}  // namespace verifier::devices::cuda
