/* kernelwright
{
  "problem": "gemm_f16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and wgmma, 128 x 256 tiles; few tiles: 64 x 128 with the depth split",
  "tunables": {"STAGES": [4, 3], "BAND": [8, 16], "BLOCKS": [128, 132]},
  "tensor_maps": {
    "a_map": {"tensor": "a", "box": [64, 64], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "b_map": {"tensor": "b", "box": [64, 64], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 8 == 0) * (N % 8 == 0)"},
    "c_map": {"tensor": "c", "box": [64, 64], "swizzle": 128, "when": "(K % 8 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1], "shared_bytes": "STAGES * 49152 + 33792",
     "args": ["a_map", "b_map", "c_map", "a", "b", "c", "M", "N", "K", "(K % 8 == 0) * (N % 8 == 0)",
              "ceil_div(M, 128) * ceil_div(N, 256) < 100"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// Many tiles: BLOCKS blocks stay on the device and take 128 x 256 tiles of c in turn, in bands of BAND tiles along m,
// so that those in work at a time share rows of a and columns of b in L2. One thread fetches tiles of a and b by TMA,
// STAGES steps of 64 along k ahead, also into the next tile of c. Two warpgroups multiply them with wgmma, 64 x 256 of
// c each. Results pass through 16 KiB of shared memory a warpgroup (stmatrix), and TMA writes them while the next tile
// is multiplied.
//
// Fewer than 100 such tiles: small ones of 64 x 128, so that more blocks have some. Each warpgroup multiplies half of
// each step's depth, and they exchange sums through shared memory. The producer begins to fetch before all threads have
// arrived. Tiles of 128 x 64 without the exchange took 8.7 us for 8.3 at 1024; blocks in clusters of two, which share an
// operand, 19 us.
//
// Shapes whose rows are not aligned to 16 bytes have no tensor maps and take wmma.
//
// Measured on one H100 on 2026-11-25, cold caches, median: 179.9 us at 4096x4096x4096, 87 % of the bound, with BAND=8
// BLOCKS=128 STAGES=4.
#include <cuda.h>
#include <cuda_fp16.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>
#include <kw/wmma_gemm.cuh>

using namespace kw;

constexpr int kRows = 128, kColumns = 256, kDepth = 64;  // of a tile of c; of a step along k
constexpr int kBox = 64 * 64 * 2, kBytesA = kRows * kDepth * 2, kBytes = kBytesA + kColumns * kDepth * 2;
constexpr int kSmall = 3 * kBox;                           // of a small tile: one box of a, two of b
constexpr int kDeep = STAGES * kBytes / kSmall;            // stages of small tiles

// 64 x 256 results of a warpgroup, in four pieces of 64 columns and two buffers.
__device__ __forceinline__ void store(const float (&sums)[128], const CUtensorMap* c_map, unsigned buffers, int m,
                                      int n) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    if (t == 0) tma::wait_read<1>();  // the buffer has been read
    warpgroup::sync<128>(1 + group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float* d = sums + 32 * q + 8 * j;
      store_matrices(buffer + swizzled(row, 2 * j + high), pack_f16(d[0], d[1]), pack_f16(d[2], d[3]),
                     pack_f16(d[4], d[5]), pack_f16(d[6], d[7]));
    }
    tma::fence();
    warpgroup::sync<128>(1 + group);
    if (t == 0) {
      tma::store(c_map, n + 64 * q, m, buffer);
      tma::commit();
    }
  }
}

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map,
                                               const CUtensorMap* c_map, unsigned memory, unsigned full, unsigned empty,
                                               int M, int N, int K) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
  const int steps = (K + kDepth - 1) / kDepth, across = (N + kColumns - 1) / kColumns;
  const int down = (M + kRows - 1) / kRows;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8);  // warps
    }
    mbarrier::fence_init();
  }
  __syncthreads();

  const auto place = [&](int tile, int& m0, int& n0) {
    const int band = tile / (BAND * across), within = tile % (BAND * across);
    const int rows = min(BAND, down - band * BAND);
    m0 = (band * BAND + within % rows) * kRows;
    n0 = within / rows * kColumns;
  };
  Ring<STAGES> ring;
  int m0, n0;
  if (group == 2) {
    if (threadIdx.x == 256) {  // the producer
      for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        place(tile, m0, n0);
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
          mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
          mbarrier::expect(barrier, kBytes);
#pragma unroll
          for (int i = 0; i < 2; ++i) tma::load(to + i * kBox, a_map, step * kDepth, m0 + 64 * i, barrier);
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            tma::load(to + kBytesA + i * kBox, b_map, n0 + 64 * i, step * kDepth, barrier);
          }
          ring.advance();
        }
      }
    }
  } else {
    const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
    float sums[128];
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
      place(tile, m0, n0);
      int used = 0;
      for (int step = 0; step < steps; ++step) {
        mbarrier::wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kBytes;
        const unsigned long long left = wgmma::k_major_tile(from + group * kBox);
        const unsigned long long right = wgmma::mn_major_tile(from + kBytesA, kBox);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 4; ++k)
          wgmma::multiply<wgmma::f16, wgmma::mn_major>(sums, left + k * (32 >> 4), right + k * (2048 >> 4),
                                                       step + k > 0);
        wgmma::commit();
        wgmma::wait<1>();  // the products of the step before are done
        if (step > 0 && lane == 0) mbarrier::arrive(empty + 8 * used);
        used = ring.stage;
        ring.advance();
      }
      wgmma::wait<0>();
      wgmma::settle(sums);
      if (lane == 0) mbarrier::arrive(empty + 8 * used);
      store(sums, c_map, buffers, m0 + 64 * group, n0);
    }
    if (threadIdx.x % 128 == 0) tma::wait<0>();
  }
}

// 64 x 64 results of a warpgroup; m is the thread's first row.
__device__ __forceinline__ void store_rows(const float (&sums)[32], __half* c, int m, int n0, int M, int N) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      unsigned w[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) w[i] = pack_f16(sums[16 * j + 4 * i + 2 * r], sums[16 * j + 4 * i + 2 * r + 1]);
      transpose(w, lane);
      const int n = n0 + 32 * j + lane % 4 * 8;  // N is a multiple of 8
      if (m + 8 * r < M && n < N) *(uint4*)(c + (size_t)(m + 8 * r) * N + n) = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }
}

__device__ __forceinline__ void multiply_small_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map, __half* c,
                                                     unsigned memory, float4* exchange, unsigned full, unsigned empty,
                                                     int M, int N, int K) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
  const int steps = (K + kDepth - 1) / kDepth, down = (M + 63) / 64, across = (N + 127) / 128;
  if (threadIdx.x == 256) {  // the producer
    tma::prefetch(a_map);
    tma::prefetch(b_map);
    for (int s = 0; s < kDeep; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8);  // warps
    }
    mbarrier::fence_init();
    tma::fence();
  }
  __syncwarp();
  if (group < 2) {
    warpgroup::sync<288>(1);
  } else if (threadIdx.x < 288) {
    warpgroup::arrive<288>(1);
  }

  Ring<kDeep> ring;
  if (threadIdx.x == 256) {
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
      const int m0 = tile % down * 64, n0 = tile / down * 128;
      for (int k = 0; k < steps * kDepth; k += kDepth) {
        const unsigned barrier = full + 8 * ring.stage, left = memory + ring.stage * kSmall;
        mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
        mbarrier::expect(barrier, kSmall);
        tma::load(left, a_map, k, m0, barrier);
#pragma unroll
        for (int i = 0; i < 2; ++i) tma::load(left + (1 + i) * kBox, b_map, n0 + 64 * i, k, barrier);
        ring.advance();
      }
    }
  } else if (group < 2) {
    float sums[64];
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
      int used = 0;
      for (int step = 0; step < steps; ++step) {
        mbarrier::wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kSmall;
        const unsigned long long left = wgmma::k_major_tile(from) + group * 2 * (32 >> 4);
        const unsigned long long right = wgmma::mn_major_tile(from + kBox, kBox) + group * 2 * (2048 >> 4);
        wgmma::fence();
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          wgmma::multiply<wgmma::f16, wgmma::mn_major>(sums, left + k * (32 >> 4), right + k * (2048 >> 4),
                                                       step + k > 0);
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

      float mine[32];  // each warpgroup adds and writes 64 columns
#pragma unroll
      for (int i = 0; i < 32; i += 4) {
        exchange[i * 64 + threadIdx.x] = group ? make_float4(sums[i], sums[i + 1], sums[i + 2], sums[i + 3])
                                               : make_float4(sums[32 + i], sums[33 + i], sums[34 + i], sums[35 + i]);
      }
      warpgroup::sync<256>(1);
#pragma unroll
      for (int i = 0; i < 32; i += 4) {
        const float4 other = exchange[i * 64 + (threadIdx.x ^ 128)];
        mine[i] = (group ? sums[32 + i] : sums[i]) + other.x;
        mine[i + 1] = (group ? sums[33 + i] : sums[i + 1]) + other.y;
        mine[i + 2] = (group ? sums[34 + i] : sums[i + 2]) + other.z;
        mine[i + 3] = (group ? sums[35 + i] : sums[i + 3]) + other.w;
      }
      const int m = tile % down * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
      store_rows(mine, c, m, tile / down * 128 + 64 * group, M, N);
      warpgroup::sync<256>(1);  // before the next tile's exchange
    }
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, const __half* a, const __half* b, __half* c, int M, int N, int K,
         int mapped, int few) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[4 * STAGES];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * 2 * STAGES;
  unsigned char* aligned = raw + (memory - start);
  if (!mapped) {
    wmma_gemm<384>(aligned, a, b, c, M, N, K);
  } else if (few) {
    multiply_small_tiles(&a_map, &b_map, c, memory, (float4*)(aligned + kDeep * kSmall), full, empty, M, N, K);
  } else {
    multiply_tiles(&a_map, &b_map, &c_map, memory, full, empty, M, N, K);
  }
}
