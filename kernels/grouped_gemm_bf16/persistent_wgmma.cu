/* kernelwright
{
  "problem": "grouped_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and wgmma over the 128 x 256 tiles of all experts, which each block counts off itself",
  "tunables": {"STAGES": [4, 3, 2], "BLOCKS": [128, 132], "DOWN_FIRST": [1, 0]},
  "tensor_maps": {
    "x_map": {"tensor": "x", "box": [64, 128], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "w_map": {"tensor": "w", "box": [64, 256, 1], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "y_map": {"tensor": "y", "box": [64, 64], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "shared_bytes": "STAGES * 49152 + 33792",
     "args": ["x_map", "w_map", "y_map", "x", "w", "offsets", "y", "E", "N", "K", "(K % 8 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// y[t, n] = sum_k x[t, k] * w[e, n, k] for offsets[e] <= t < offsets[e + 1]; x: [T, K], w: [E, N, K], offsets: [E + 1],
// y: [T, N], all row-major.
//
// BLOCKS blocks stay on the device and take 128 x 256 tiles of y in turn, expert after expert. Each thread that needs
// the place of a tile finds its expert by adding up tiles from the last one it had, so there is no plan to compute
// before. One thread of a block fetches tiles of x and w by TMA, STAGES steps of 64 along k ahead, also into the next
// tile. Two warpgroups multiply them with wgmma, 64 x 256 of y each. Results pass through 16 KiB of shared memory a
// warpgroup (stmatrix). TMA writes 64 x 64 at once under the next tile; where an expert ends within them, threads copy
// its rows. Shapes whose rows are not aligned to 16 bytes have no tensor maps and take fp32 arithmetic.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 206.4 us at 8192x8x4096x2048, 73 % of the bound, with
// BLOCKS=128 DOWN_FIRST=1 STAGES=4.
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

constexpr int kRows = 128, kColumns = 256, kDepth = 64;  // of a tile of y; of a step along k
constexpr int kBox = 64 * 128, kBytesA = kRows * 128, kBytes = kBytesA + kColumns * 128;

// The tiles of all experts in one row. Asked for ascending ones.
struct Tiles {
  const int* offsets;
  int E, across, rows, expert, before, start, end;  // `before`: tiles of the experts before this one

  __device__ __forceinline__ Tiles(const int* offsets, int E, int across, int rows)
      : offsets(offsets), E(E), across(across), rows(rows), expert(0), before(0), start(offsets[0]), end(offsets[1]) {}
  // Finds the expert; false behind the last tile. Gives the tile's place in its expert.
  __device__ __forceinline__ bool find(int tile, int& down, int& right) {
    int count = (end - start + rows - 1) / rows;
    while (tile >= before + count * across) {
      before += count * across;
      if (++expert == E) return false;
      start = end;
      end = offsets[expert + 1];
      count = (end - start + rows - 1) / rows;
    }
    const int within = tile - before;
    down = DOWN_FIRST ? within % count : within / across;
    right = DOWN_FIRST ? within / count : within % across;
    return true;
  }
};

// 64 x 256 results of a warpgroup, in four pieces of 64 columns and two buffers. `rows`: so many of them are this
// expert's.
__device__ __forceinline__ void store(const float (&sums)[128], const CUtensorMap* y_map, __nv_bfloat16* y,
                                      unsigned buffers, int m, int n, int rows, int N) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    if (t == 0) tma::wait_read<1>();  // the buffer has been read
    warpgroup::sync<128>(1 + group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float* d = sums + 32 * q + 8 * j;
      store_matrices(buffer + swizzled(row, 2 * j + high), pack_bf16(d[0], d[1]), pack_bf16(d[2], d[3]),
                     pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
    }
    tma::fence();
    warpgroup::sync<128>(1 + group);
    if (rows < 64) {
      for (int i = t; i < rows * 8; i += 128) {
        const int r = i / 8, column = n + 64 * q + i % 8 * 8;
        const uint4 eight = load_four(buffer + swizzled(r, i % 8));
        if (column < N) *(uint4*)(y + (size_t)(m + r) * N + column) = eight;
      }
    }
    if (t == 0) {
      if (rows >= 64) tma::store(y_map, n + 64 * q, m, buffer);
      tma::commit();  // also of nothing: groups count uses of the buffers
    }
  }
}

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* x_map, const CUtensorMap* w_map,
                                               const CUtensorMap* y_map, const int* offsets, __nv_bfloat16* y,
                                               unsigned memory, unsigned full, unsigned empty, int E, int N, int K) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, steps = (K + kDepth - 1) / kDepth;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8);  // warps
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  Ring<STAGES> ring;
  int down, right;
  if (group == 2) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) {  // the producer
      Tiles tiles(offsets, E, (N + kColumns - 1) / kColumns, kRows);
      for (int tile = blockIdx.x; tiles.find(tile, down, right); tile += gridDim.x) {
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
          mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
          mbarrier::expect(barrier, kBytes);
          tma::load(to, x_map, step * kDepth, tiles.start + down * kRows, barrier);
          tma::load(to + kBytesA, w_map, step * kDepth, right * kColumns, tiles.expert, barrier);
          ring.advance();
        }
      }
    }
  } else {
    warpgroup::take_registers<232>();
    const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
    float sums[128];
    Tiles tiles(offsets, E, (N + kColumns - 1) / kColumns, kRows);
    for (int tile = blockIdx.x; tiles.find(tile, down, right); tile += gridDim.x) {
      int used = 0;
      for (int step = 0; step < steps; ++step) {
        mbarrier::wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kBytes;
        const unsigned long long a = wgmma::k_major_tile(from + group * kBox);
        const unsigned long long b = wgmma::k_major_tile(from + kBytesA);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          wgmma::multiply<wgmma::bf16>(sums, a + k * (32 >> 4), b + k * (32 >> 4), step + k > 0);
        }
        wgmma::commit();
        wgmma::wait<1>();  // the products of the step before are done
        if (step > 0 && lane == 0) mbarrier::arrive(empty + 8 * used);
        used = ring.stage;
        ring.advance();
      }
      wgmma::wait<0>();
      wgmma::settle(sums);
      if (lane == 0) mbarrier::arrive(empty + 8 * used);
      const int m = tiles.start + down * kRows + 64 * group;
      if (m < tiles.end) store(sums, y_map, y, buffers, m, right * kColumns, tiles.end - m, N);
    }
    if (threadIdx.x % 128 == 0) tma::wait<0>();
  }
}

// Shapes without tensor maps: 96 x 64 tiles.
__device__ __forceinline__ void multiply_plainly(float* memory, const __nv_bfloat16* x, const __nv_bfloat16* w,
                                                 const int* offsets, __nv_bfloat16* y, int E, int N, int K) {
  Tiles tiles(offsets, E, (N + 63) / 64, 96);
  int down, right;
  for (int tile = blockIdx.x; tiles.find(tile, down, right); tile += gridDim.x) {
    plain_tile<384, true>(memory, x, w + (size_t)tiles.expert * N * K, tiles.start + down * 96, tiles.end, right * 64,
                          N, K, [&](int m, int n, float sum) { y[(size_t)m * N + n] = __float2bfloat16(sum); });
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap w_map,
         const __grid_constant__ CUtensorMap y_map, const __nv_bfloat16* x, const __nv_bfloat16* w, const int* offsets,
         __nv_bfloat16* y, int E, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  if (mapped) {
    multiply_tiles(&x_map, &w_map, &y_map, offsets, y, memory, full, empty, E, N, K);
  } else {
    multiply_plainly((float*)(raw + (memory - start)), x, w, offsets, y, E, N, K);
  }
}
