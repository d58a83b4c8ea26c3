/* kernelwright
{
  "problem": "pointwise_conv2d_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and wgmma: few filters stay in shared memory, many make tiles of 256 x 128",
  "tunables": {"COLUMNS": [64, 128], "ROWS": [256, 128], "DOWN_FIRST": [0, 1], "BLOCKS": [132]},
  "tensor_maps": {
    "w_map": {"tensor": "w", "box": [64, 64], "swizzle": 128, "when": "(C % 8 == 0) * (H * W % 8 == 0)"},
    "x_map": {"tensor": "x", "shape": ["H * W", "C", "B"], "box": [64, 64, 1], "swizzle": 128, "l2_promotion": 256,
              "when": "(C % 8 == 0) * (H * W % 8 == 0)"},
    "y_map": {"tensor": "y", "shape": ["H * W", "K", "B"], "box": [64, 64, 1], "swizzle": 128,
              "when": "(C % 8 == 0) * (H * W % 8 == 0)"}
  },
  "launches": [
    {"kernel": "conv2d", "grid": ["BLOCKS", 1, 1], "block": [288, 1, 1], "shared_bytes": 230400,
     "args": ["w_map", "x_map", "y_map", "w", "x", "y", "B", "K", "C", "H * W", "(C % 8 == 0) * (H * W % 8 == 0)"]}
  ]
}
*/
// y[b, f, p] = sum_c w[f, c] x[b, c, p]; w: [K, C], x: [B, C, pixels], y: [B, K, pixels].
//
// For each image a product of row-major matrices whose left factor is the same for all. A block stays on its
// multiprocessor and takes tiles of y in turn, image after image. One thread fetches by TMA, as many steps of 64
// channels ahead as 192 KiB hold, also into the next tiles; two warpgroups multiply with wgmma. Results pass through
// shared memory (stmatrix), and TMA writes them while the next tile is multiplied. The tensor maps have three
// dimensions, so that zeros fill a tile at the end of its own image.
//
// - K <= 64 and C <= 512, limited by memory: all of w is fetched once and stays in shared memory, so that only x moves.
//   Tiles have all filters and COLUMNS pixels, and the warpgroups take them alternately: one stores its results while
//   the other multiplies.
// - Other shapes: tiles of 256 filters (128 where these are fewer, or where a last tile would be half empty) and 128
//   pixels. Each warpgroup makes half of the filters, so that it reads each part of x for 128 of them. A tile with at
//   most 64 pixels fetches and multiplies half as many. DOWN_FIRST: consecutive blocks take all filters of the same
//   pixels, so that L2 has x for the second.
//
// Shapes whose rows are not aligned to 16 bytes have no tensor maps and take fp32 arithmetic.
//
// Measured on one H200 on 2026-11-28, cold caches, median: 38.2 us at 64x256x56x56_64 and 54.5 us at 128x512x28x28_256,
// 73 and 61 % of the bound; PyTorch takes 37.2 and 50.5.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/plain_gemm.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kBox = 64 * 64 * 2;            // bytes
constexpr int kRing = 24 * kBox;             // bytes of all stages
constexpr int kMostKept = 8;                 // boxes of w that stay in shared memory
constexpr int kMostStages = 24 - kMostKept;  // of any ring

struct Shape {
  int B, K, C, pixels;
};

// The maps, and shared memory by address: the ring, 32 KiB for results, barriers of full and empty stages, one for w.
struct Place {
  const CUtensorMap *w_map, *x_map, *y_map;
  unsigned ring, results, full, empty, kept;
};

__device__ __forceinline__ void init(const Place& at, int stages, int consumers) {
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbarrier::init(at.full + 8 * s, 1);
      mbarrier::init(at.empty + 8 * s, consumers);  // warps
    }
    mbarrier::init(at.kept, 1);
    mbarrier::fence_init();
  }
  __syncthreads();
}

// 64 filters from m on by one or two boxes of 64 pixels from p on, results of a warpgroup.
template <int count>
__device__ __forceinline__ void store(const float (&sums)[count], const CUtensorMap* y_map, unsigned buffers, int boxes,
                                      int p, int m, int i) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
  if (t == 0) tma::wait_read<0>();  // the buffers have been read
  warpgroup::sync<128>(1 + group);
#pragma unroll
  for (int j = 0; j < count / 8; ++j) {
    if (j / 4 >= boxes) break;
    const float* d = sums + 8 * j;
    store_matrices(buffers + j / 4 * kBox + swizzled(row, 2 * (j % 4) + high), pack_bf16(d[0], d[1]),
                   pack_bf16(d[2], d[3]), pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
  }
  tma::fence();
  warpgroup::sync<128>(1 + group);
  if (t == 0) {
    for (int box = 0; box < boxes; ++box) tma::store(y_map, p + 64 * box, m, i, buffers + box * kBox);
    tma::commit();
  }
}

// All steps of a tile for one warpgroup: kDeep times 64 filters by `boxes` times 64 pixels. left and right give
// addresses of w and x in shared memory for (step, stage).
template <int boxes, int kDeep, int stages, typename Left, typename Right>
__device__ __forceinline__ void multiply_tile(float (&sums)[kDeep][64], Ring<stages>& ring, int steps, const Place& at,
                                              const Left& left_at, const Right& right_at) {
  const int lane = threadIdx.x % 32;
  int used = 0;
  for (int step = 0; step < steps; ++step) {
    mbarrier::wait(at.full + 8 * ring.stage, ring.phase);
    const unsigned long long left = wgmma::k_major_tile(left_at(step, ring.stage));
    const unsigned long long right = wgmma::mn_major_tile(right_at(ring.stage), kBox);
    wgmma::fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma unroll
      for (int d = 0; d < kDeep; ++d) {
        const unsigned long long a = left + d * (kBox >> 4) + k * (32 >> 4), b = right + k * (2048 >> 4);
        if constexpr (boxes == 2) {
          wgmma::multiply<wgmma::bf16, wgmma::mn_major>(sums[d], a, b, step + k > 0);
        } else {
          wgmma::multiply<wgmma::bf16, wgmma::mn_major>((float(&)[32])sums[d], a, b, step + k > 0);
        }
      }
    }
    wgmma::commit();
    wgmma::wait<1>();  // the products of the step before are done
    if (step > 0 && lane == 0) mbarrier::arrive(at.empty + 8 * used);
    used = ring.stage;
    ring.advance();
  }
  wgmma::wait<0>();
#pragma unroll
  for (int d = 0; d < kDeep; ++d) wgmma::settle(sums[d]);
  if (lane == 0) mbarrier::arrive(at.empty + 8 * used);
}

// K <= 64; w stays in the first boxes of the ring's memory.
__device__ __forceinline__ void few_filters(const Place& at, const Shape& shape) {
  constexpr int kBytes = COLUMNS * 128, stages = (kRing - kMostKept * kBox) / kBytes;
  const int group = threadIdx.x / 128, steps = (shape.C + 63) / 64;
  const int across = (shape.pixels + COLUMNS - 1) / COLUMNS, count = shape.B * across;
  const unsigned x_at = at.ring + kMostKept * kBox;
  init(at, stages, 4);
  Ring<stages> ring;
  if (group == 2) {
    if (threadIdx.x != 256) return;  // the producer
    mbarrier::expect(at.kept, steps * kBox);
    for (int step = 0; step < steps; ++step) tma::load(at.ring + step * kBox, at.w_map, step * 64, 0, at.kept);
    for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
      const int p = tile % across * COLUMNS, boxes = COLUMNS == 128 && p + 64 < shape.pixels ? 2 : 1;
      for (int step = 0; step < steps; ++step) {
        const unsigned barrier = at.full + 8 * ring.stage;
        mbarrier::wait(at.empty + 8 * ring.stage, ring.phase ^ 1);
        mbarrier::expect(barrier, boxes * kBox);
        for (int box = 0; box < boxes; ++box) {
          tma::load(x_at + ring.stage * kBytes + box * kBox, at.x_map, p + 64 * box, step * 64, tile / across, barrier);
        }
        ring.advance();
      }
    }
    return;
  }
  mbarrier::wait(at.kept, 0);
  const auto left = [&](int step, int) { return at.ring + step * kBox; };
  const auto right = [&](int stage) { return x_at + stage * kBytes; };
  int turn = 0;  // of the warpgroups
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x, turn ^= 1) {
    if (turn != group) {
      for (int step = 0; step < steps; ++step) ring.advance();
      continue;
    }
    const int p = tile % across * COLUMNS;
    float sums[1][64];
    if (COLUMNS == 128 && p + 64 < shape.pixels) {
      multiply_tile<2>(sums, ring, steps, at, left, right);
      store(sums[0], at.y_map, at.results + group * 2 * kBox, 2, p, 0, tile / across);
    } else {
      multiply_tile<1>(sums, ring, steps, at, left, right);
      store((const float(&)[32])sums[0], at.y_map, at.results + group * 2 * kBox, 1, p, 0, tile / across);
    }
  }
  if (threadIdx.x % 128 == 0) tma::wait<0>();
}

// Tiles of 128 * kDeep filters and 128 pixels.
template <int kDeep>
__device__ __forceinline__ void many_filters(const Place& at, const Shape& shape) {
  constexpr int kRows = 128 * kDeep, kBytesW = kRows * 128, kBytes = kBytesW + 2 * kBox, stages = kRing / kBytes;
  const int group = threadIdx.x / 128, steps = (shape.C + 63) / 64;
  const int across = (shape.pixels + 127) / 128, down = (shape.K + kRows - 1) / kRows, each = across * down;
  const int count = shape.B * each;
  const auto find = [&](int tile, int& i, int& m, int& p) {
    i = tile / each;
    const int within = tile % each;
    m = (DOWN_FIRST ? within % down : within / across) * kRows;
    p = (DOWN_FIRST ? within / down : within % across) * 128;
  };
  init(at, stages, 8);
  Ring<stages> ring;
  int i, m, p;
  if (group == 2) {
    if (threadIdx.x != 256) return;  // the producer
    for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
      find(tile, i, m, p);
      const int boxes = p + 64 < shape.pixels ? 2 : 1;
      for (int step = 0; step < steps; ++step) {
        const unsigned barrier = at.full + 8 * ring.stage, to = at.ring + ring.stage * kBytes;
        mbarrier::wait(at.empty + 8 * ring.stage, ring.phase ^ 1);
        mbarrier::expect(barrier, kBytesW + boxes * kBox);
        for (int box = 0; box < boxes; ++box) {
          tma::load(to + kBytesW + box * kBox, at.x_map, p + 64 * box, step * 64, i, barrier);
        }
        for (int r = 0; r < kRows / 64; ++r) tma::load(to + r * kBox, at.w_map, step * 64, m + 64 * r, barrier);
        ring.advance();
      }
    }
    return;
  }
  const auto left = [&](int, int stage) { return at.ring + stage * kBytes + group * kDeep * kBox; };
  const auto right = [&](int stage) { return at.ring + stage * kBytes + kBytesW; };
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    find(tile, i, m, p);
    const int boxes = p + 64 < shape.pixels ? 2 : 1;
    float sums[kDeep][64];
    if (boxes == 2) {
      multiply_tile<2>(sums, ring, steps, at, left, right);
    } else {
      multiply_tile<1>(sums, ring, steps, at, left, right);
    }
#pragma unroll
    for (int d = 0; d < kDeep; ++d) {
      const int row = m + (group * kDeep + d) * 64;
      if (row < shape.K) store(sums[d], at.y_map, at.results + group * 2 * kBox, boxes, p, row, i);
    }
  }
  if (threadIdx.x % 128 == 0) tma::wait<0>();
}

// Shapes without tensor maps: tiles of 72 x 64.
__device__ __forceinline__ void multiply_plainly(float* memory, const __nv_bfloat16* w, const __nv_bfloat16* x,
                                                 __nv_bfloat16* y, const Shape& shape) {
  const int across = (shape.pixels + 63) / 64, each = across * ((shape.K + 71) / 72), count = shape.B * each;
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const size_t i = tile / each;
    plain_tile<288, false>(memory, w, x + i * shape.C * shape.pixels, tile % each / across * 72, shape.K,
                           tile % each % across * 64, shape.pixels, shape.C, [&](int m, int p, float sum) {
                             y[(i * shape.K + m) * shape.pixels + p] = __float2bfloat16(sum);
                           });
  }
}

extern "C" __global__ void __launch_bounds__(288)
    conv2d(const __grid_constant__ CUtensorMap w_map, const __grid_constant__ CUtensorMap x_map,
           const __grid_constant__ CUtensorMap y_map, const __nv_bfloat16* w, const __nv_bfloat16* x, __nv_bfloat16* y,
           int B, int K, int C, int pixels, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * kMostStages + 1];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers);
  const Shape shape = {B, K, C, pixels};
  const Place at = {
      &w_map, &x_map, &y_map, memory, memory + kRing, full, full + 8 * kMostStages, full + 16 * kMostStages};
  if (!mapped) {
    multiply_plainly((float*)(raw + (memory - start)), w, x, y, shape);
  } else if (K <= 64 && C <= 64 * kMostKept) {
    few_filters(at, shape);
  } else if (ROWS == 256 && K > 128 && (K + 127) / 128 % 2 == 0) {
    many_filters<2>(at, shape);
  } else {
    many_filters<1>(at, shape);
  }
}
