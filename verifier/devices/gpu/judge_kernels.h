// The host's side of judge_*.cu: argument layouts, result structs, and how the results of blocks
// are joined. The kernels, whose arguments are pointers to device memory and 64-bit integers unless said otherwise:
//
//   kw_fill_plain(void* out, FillArgs args), kw_fill(void* out, FillArgs args)             fill_input, without patches
//   kw_patch(void* out, FillArgs args)                                                     its patches, afterwards
//   kw_poison(uint8* bytes, int64 size, uint64 key)                                        fill_poison, the same bytes
//   kw_find_poison(const void* bytes, int64 element_bytes, int64 elements, uint64 key,
//                  int64 least_run, Survivors* partials)                                   find_poison
//   kw_untouched(const uint8* bytes, int64 size, uint64 key, int64* partials)              bytes that differ
//   kw_tile_errors(const void* output, const double* reference, const void* naive,
//                  int64 dtype, Tiling tiling, TileErrors* tiles)                          tile_errors
//   kw_tile_mismatches(const void* output, const void* reference, int64 dtype,
//                      Tiling tiling, TileMismatches* tiles)                               tile_mismatches
//   kw_count_wrong(const void* output, const double* reference, int64 dtype,
//                  Tiling tiling, const double* allowed, int64* counts)                    count_wrong, for each tile
//   kw_gather(const uint8* x, int64 element_bytes, const int64* places, int64 count,
//             uint8* elements)                                                             gathered
//   kw_moments(const void* x, int64 dtype, int64 elements, int64 step, Moments* partials)  moments_of
//   kw_difference(const void* a, const void* b, int64 dtype, int64 elements,
//                 Difference* partials)                                                    largest_difference
//   kw_quanta(const void* output, const double* reference, int64 dtype, int64 elements,
//             Quanta* partials)                                                            quanta_between: i8, u8, i32
//
// `dtype` is core::DType as a number. `partials` has one entry for each block of the grid, `tiles`, `allowed` and
// `counts` one for each tile (each tile is one block's, whatever the grid). Nothing need be cleared before. Tensors
// must be aligned to their elements. Grids and blocks have one dimension. Jitter, errors, counts and moments are of
// floating dtypes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "benchsuite/problem.h"
#include "core/dtype.h"
#include "sandbox/own_kernels.h"
#include "verifier/comparison/difference.h"
#include "verifier/comparison/output_rules.h"
#include "verifier/comparison/reduction.h"
#include "verifier/comparison/tiles.h"
#include "verifier/draws/inputs.h"
#include "verifier/draws/poison.h"

namespace verifier::devices::gpu {

inline constexpr int64_t kJudgeBlock = 256;  // threads of a block, which may have no more

// The kernel that fills so: kw_fill_plain for floats of at most 32 bits that are, patches aside, what the problem's
// init says, and kw_fill for all else.
const char* fill_kernel(const formulas::FillArgs& args);

// Their source: the files judge_*.cu of `folder` (core::Paths::gpu_kernels) and the formulas beside it, as one. Throws
// core::InputError when one is missing.
std::string judge_kernels_source(const std::filesystem::path& folder);
// The part of that folder that a Judge of a GPU needs. Throws likewise.
sandbox::OwnKernels own_kernels(const std::filesystem::path& folder);

// The results of one launch's blocks, together.
draws::Survivors joined(std::span<const draws::Survivors> partials);
comparison::Moments joined(std::span<const comparison::Moments> partials);
comparison::Difference joined(std::span<const comparison::Difference> partials);
comparison::Quanta joined(std::span<const comparison::Quanta> partials);
int64_t joined(std::span<const int64_t> partials);

}  // namespace verifier::devices::gpu
