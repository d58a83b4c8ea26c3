#include "verifier/devices/gpu/judge_kernels.h"

#include <algorithm>
#include <cmath>

#include "core/paths.h"
#include "core/text.h"

namespace verifier::devices::gpu {

namespace {
// A shared formula's text as it stands behind judge_common.cu: NVRTC finds no headers, and needs none.
std::string without_includes(const std::string& text) {
  std::string kept;
  for (const std::string& line : core::split(text, '\n')) {
    if (!line.starts_with("#include") && !line.starts_with("#pragma once")) kept += line + "\n";
  }
  return kept;
}
}  // namespace

std::string judge_kernels_source(const std::filesystem::path& folder) {
  std::string source = core::read_file(folder / "judge_common.cu") + "\n";
  for (const char* shared :
       {"philox.h", "draw.h", "rows.h", "simple.h", "content.h", "structures.h", "poison_word.h", "tile_errors.h"}) {
    source += without_includes(core::read_file(folder.parent_path() / "formulas" / shared));
  }
  for (const char* part : {"judge_inputs.cu", "judge_poison.cu", "judge_statistics.cu"}) {
    source += core::read_file(folder / part) + "\n";
  }
  return source;
}

sandbox::OwnKernels own_kernels(const std::filesystem::path& folder) {
  return {judge_kernels_source(folder), core::read_file(folder / "run_kernels.cu")};
}

const char* fill_kernel(const formulas::FillArgs& args) {
  using benchsuite::Init;
  const auto dtype = static_cast<core::DType>(args.dtype);
  const bool of_bounds_or_normal =
      args.kind == static_cast<int64_t>(Init::normal) || args.kind == static_cast<int64_t>(Init::uniform);
  const bool plain = of_bounds_or_normal && args.grain == 0 && core::is_floating(dtype) && dtype != core::DType::f64 &&
                     draws::is_disguise(static_cast<draws::Distribution>(args.distribution));
  return plain ? "kw_fill_plain" : "kw_fill";
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

comparison::Quanta joined(std::span<const comparison::Quanta> partials) {
  comparison::Quanta all;
  for (const comparison::Quanta& one : partials) {
    all.beyond = std::max(all.beyond, one.beyond);
    all.peak = std::max(all.peak, one.peak);
  }
  return all;
}

int64_t joined(std::span<const int64_t> partials) {
  int64_t all = 0;
  for (const int64_t one : partials) all += one;
  return all;
}

}  // namespace verifier::devices::gpu
