/* kernelwright
{
  "problem": "block_scaled_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and fp8 wgmma, 256 x 128 tiles, fp32 sums take each block's products with its scales",
  "tunables": {"PROMOTE": [4, 2], "WIDTH": [128, 64], "BAND": [8, 4, 16], "BLOCKS": [128, 132], "STAGES": [4, 3]},
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
// c[m, n] = sum over blocks j of 128 columns of scale_a[j, m] * scale_b[n / 128, j] * sum_{k in j} a[m, k] * b[n, k];
// a: [M, K], b: [N, K], c: [M, N], scale_a: [ceil(K / 128), M], scale_b: [ceil(N / 128), ceil(K / 128)], all row-major.
//
// BLOCKS blocks stay on the device and take 256 x 128 tiles of c in turn, in bands of BAND tiles along m. One thread
// fetches tiles of a and b by TMA, STAGES steps of 128 along k ahead; a step is one block of scales, and so are the
// columns of a tile. Two warpgroups multiply with wgmma, 128 x 128 of c each. Results pass through 16 KiB of shared
// memory a warpgroup (stmatrix), and TMA writes them while the next tile is multiplied. Shapes whose rows are not
// aligned to 16 bytes have no tensor maps and take fp32 arithmetic.
//
// Sums have two levels, as in DeepGEMM: tensor cores add 32 * PROMOTE products of 64 x WIDTH results, and each thread
// adds them to its fp32 sums with a multiply-add by both scales, while the other warpgroup multiplies. With WIDTH=64 a
// warpgroup has two such parts, and one is multiplied while the other is added. Tensor cores of Hopper keep about 14
// bits of an fp8 sum, and what they cut off adds up where all terms have one sign: PROMOTE=2 halves the number of terms
// and doubles the multiply-adds.
//
// A thread needs four scales of a and one of b in a step. It loads them into registers one step ahead, those of its
// next tile included, so they take no shared memory and M need not be aligned.
//
// H200, 2026-11-28: 116.0 us at 4096 x 4096 x 4096, 68 % of the bound; cuBLAS 112.6.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <kw/mbarrier.cuh>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>
#include <kw/warpgroup.cuh>
#include <kw/wgmma.cuh>

using namespace kw;

constexpr int kRows = 256, kColumns = 128, kDepth = 128;                   // of a tile of c; of a step along k
constexpr int kHalves = 128 / WIDTH, kPieces = 2 * kHalves * 4 / PROMOTE;  // of a tile's columns; of a warpgroup's step
constexpr int kBox = 64 * 128, kBytesA = kRows * kDepth, kBytes = kBytesA + kColumns * kDepth;

// 128 x 128 results of a warpgroup, in four pieces of 64 x 64 and two buffers.
__device__ __forceinline__ void store(const float (&sums)[2][64], const CUtensorMap* c_map, unsigned buffers, int m,
                                      int n) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    if (t == 0) tma::wait_read<1>();  // the buffer has been read
    warpgroup::sync<128>(1 + group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float* d = sums[q / 2] + 32 * (q % 2) + 8 * j;
      store_matrices(buffer + swizzled(row, 2 * j + high), pack_bf16(d[0], d[1]), pack_bf16(d[2], d[3]),
                     pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
    }
    tma::fence();
    warpgroup::sync<128>(1 + group);
    if (t == 0) {
      tma::store(c_map, n + 64 * (q % 2), m + 64 * (q / 2), buffer);
      tma::commit();
    }
  }
}

// Kept where it is written, a step ahead of its use.
__device__ __forceinline__ float load_early(const float* from) {
  float value;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(from) : "memory");
  return value;
}

__device__ __forceinline__ void multiply_tiles(const CUtensorMap* a_map, const CUtensorMap* b_map,
                                               const CUtensorMap* c_map, const float* scale_a, const float* scale_b,
                                               unsigned memory, unsigned full, unsigned empty, int M, int N, int K) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
  const int steps = (K + kDepth - 1) / kDepth, down = (M + kRows - 1) / kRows;
  const int across = (N + kColumns - 1) / kColumns, tiles = down * across;
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
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
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
    return;
  }
  warpgroup::take_registers<232>();
  const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
  const int row = 128 * group + threadIdx.x % 128 / 32 * 16 + lane / 4;  // of this thread; others: 8, 64 and 72 more
  float sums[2][64], parts[kHalves][WIDTH / 2];
  float factors[4], next_a[4], next_b;  // of this step's rows; of the next step

  const auto fetch = [&](int m, int n, int step) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      next_a[i] = load_early(scale_a + step * M + min(m + row + 64 * (i / 2) + 8 * (i % 2), M - 1));
    }
    next_b = load_early(scale_b + n / kColumns * steps + step);
  };
  // Pieces are products of 64 rows, WIDTH columns and 32 * PROMOTE of k.
  const auto multiply = [&](int piece, float(&part)[WIDTH / 2]) {
    const int i = piece / kHalves % 2, half = piece % kHalves, first = piece / (2 * kHalves) * PROMOTE;
    const unsigned from = memory + ring.stage * kBytes;
    const unsigned long long left = wgmma::k_major_tile(from + (2 * group + i) * kBox) + first * (32 >> 4);
    const unsigned long long right = wgmma::k_major_tile(from + kBytesA + half * kBox) + first * (32 >> 4);
    wgmma::settle(part);
    wgmma::fence();
#pragma unroll
    for (int k = 0; k < PROMOTE; ++k) {
      wgmma::multiply<wgmma::e4m3>(part, left + k * (32 >> 4), right + k * (32 >> 4), k > 0);
    }
    wgmma::commit();
  };
  const auto promote = [&](int piece, float(&part)[WIDTH / 2]) {
    const int i = piece / kHalves % 2, half = piece % kHalves;
    wgmma::settle(part);
#pragma unroll
    for (int e = 0; e < WIDTH / 2; ++e) sums[i][WIDTH / 2 * half + e] += factors[2 * i + e / 2 % 2] * part[e];
  };

  place(blockIdx.x, m0, n0);
  if (blockIdx.x < tiles) fetch(m0, n0, 0);
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    int next_m0 = m0, next_n0 = n0;
    if (tile + gridDim.x < tiles) place(tile + gridDim.x, next_m0, next_n0);
#pragma unroll
    for (int e = 0; e < 64; ++e) sums[0][e] = sums[1][e] = 0.0f;
    for (int step = 0; step < steps; ++step) {
      mbarrier::wait(full + 8 * ring.stage, ring.phase);
      multiply(0, parts[0]);
#pragma unroll
      for (int i = 0; i < 4; ++i) factors[i] = next_a[i] * next_b;
      const bool more = step + 1 < steps;
      fetch(more ? m0 : next_m0, more ? n0 : next_n0, more ? step + 1 : 0);
#pragma unroll
      for (int piece = 1; piece < kPieces; ++piece) {
        if (kHalves == 2) multiply(piece, parts[piece % kHalves]);
        wgmma::wait<kHalves - 1>();
        promote(piece - 1, parts[(piece - 1) % kHalves]);
        if (kHalves == 1) multiply(piece, parts[0]);
      }
      wgmma::wait<0>();
      if (lane == 0) mbarrier::arrive(empty + 8 * ring.stage);
      ring.advance();
      promote(kPieces - 1, parts[kHalves - 1]);
    }
    store(sums, c_map, buffers, m0 + 128 * group, n0);
    m0 = next_m0;
    n0 = next_n0;
  }
  if (threadIdx.x % 128 == 0) tma::wait<0>();
}

// Shapes without tensor maps: 96 x 64 tiles in fp32, through steps of 32 along k. Elements of a take both scales, which
// a row of a step shares, on their way to shared memory. memory: 32 x 97 and 32 x 65 floats.
__device__ __forceinline__ void multiply_plainly(float* memory, const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b,
                                                 const float* scale_a, const float* scale_b, __nv_bfloat16* c, int M,
                                                 int N, int K) {
  float(*left)[97] = (float(*)[97])memory;
  float(*right)[65] = (float(*)[65])(memory + 32 * 97);
  const int t = threadIdx.x, x = t % 16, y = t / 16, warp = t / 32, lane = t % 32;
  const int blocks = (K + 127) / 128, across = (N + 63) / 64, count = across * ((M + 95) / 96);
  for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const int m0 = tile / across * 96, n0 = tile % across * 64;
    float sums[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
      const int k = k0 + lane, j = k0 / 128;
      const float of_b = scale_b[n0 / 128 * blocks + j];
      __syncthreads();
      for (int r = warp; r < 96; r += 12) {
        const int m = m0 + r;
        left[lane][r] = m < M && k < K ? of_b * scale_a[j * M + m] * float(a[(size_t)m * K + k]) : 0.0f;
      }
      for (int r = warp; r < 64; r += 12) {
        right[lane][r] = n0 + r < N && k < K ? float(b[(size_t)(n0 + r) * K + k]) : 0.0f;
      }
      __syncthreads();
#pragma unroll 4
      for (int l = 0; l < 32; ++l) {
#pragma unroll
        for (int e = 0; e < 16; ++e) sums[e / 4][e % 4] += left[l][y + 24 * (e / 4)] * right[l][x + 16 * (e % 4)];
      }
    }
#pragma unroll
    for (int e = 0; e < 16; ++e) {
      const int m = m0 + y + 24 * (e / 4), n = n0 + x + 16 * (e % 4);
      if (m < M && n < N) c[(size_t)m * N + n] = __float2bfloat16(sums[e / 4][e % 4]);
    }
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
  if (mapped) {
    multiply_tiles(&a_map, &b_map, &c_map, scale_a, scale_b, memory, full, empty, M, N, K);
  } else {
    multiply_plainly((float*)(raw + (memory - start)), a, b, scale_a, scale_b, c, M, N, K);
  }
}
