/* kernelwright
{
  "problem": "scaled_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90a",
  "description": "persistent TMA and fp8 wgmma with a from registers, sums taken out every 64 products",
  "tunables": {"BAND": [16, 8, 32], "BLOCKS": [128, 132], "DRAIN": [4, 2, 1], "STAGES": [4, 3]},
  "tensor_maps": {
    "a_map": {"tensor": "a", "box": [128, 128], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 16 == 0) * (N % 8 == 0)"},
    "b_map": {"tensor": "b", "box": [128, 256], "swizzle": 128, "l2_promotion": 256,
              "when": "(K % 16 == 0) * (N % 8 == 0)"},
    "c_map": {"tensor": "c", "box": [64, 64], "swizzle": 128, "when": "(K % 16 == 0) * (N % 8 == 0)"}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["BLOCKS", 1, 1], "block": [384, 1, 1],
     "shared_bytes": "STAGES * 49152 + 33792", "when": "(K % 16 == 0) * (N % 8 == 0)",
     "args": ["a_map", "b_map", "c_map", "scale_a", "scale_b", "M", "N", "K"]},
    {"kernel": "gemm_of_any_shape", "grid": ["ceil_div(M, 64) * ceil_div(N, 64)", 1, 1], "block": [256, 1, 1],
     "shared_bytes": 16640, "when": "1 - (K % 16 == 0) * (N % 8 == 0)",
     "args": ["a", "b", "scale_a", "scale_b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = scale_a[0] * scale_b[0] * sum_k a[m, k] * b[n, k]; a: [M, K], b: [N, K], c: [M, N], all row-major.
//
// BLOCKS blocks stay on the device and take 128 x 256 tiles of c in turn, in bands of BAND tiles along m. One thread
// fetches tiles of a and b by TMA, STAGES steps of 128 along k ahead. Two warpgroups multiply them with wgmma, 64 x 256
// of c each. Results pass through 16 KiB of shared memory a warpgroup (stmatrix), and TMA writes them while the next
// tile is multiplied.
// Shapes whose rows are not aligned to 16 bytes have no tensor maps and take fp32 arithmetic, in a launch of their own.
//
// Tensor cores of Hopper align the terms of an fp8 sum, and the sum so far, to the largest and keep about 14 bits.
// Where all terms have one sign, what they cut off adds up; 128 products in a row are too many beside a bf16 result. So
// sums of 64 products leave the tensor cores, 64 x 64 elements at a time, and are added in fp32 while the warpgroup's
// next piece, in other registers, is multiplied. a comes from registers (ldmatrix), 64 of k for four pieces: from
// shared memory, 64 x 64 pieces would read 128 bytes a clock, which is all it has. Every DRAIN steps a warpgroup has
// nothing in flight for a moment, and the other one multiplies.
//
// Measured on one H200 (driver 580.159.04, CUDA 13.0) on 2026-11-29, cold caches, median: 114.4 us at 4096x4096x4096,
// 68 % of the bound. In the same hour: 121.0 with 64 x 128 pieces from shared memory and none in flight while they are
// added; 119.8 and 116.0 with DRAIN=1 and 2; 119.2 with a from shared memory; 117.4 in clusters of two that share b;
// 127.9 with three warpgroups; 128.1 with warpgroups that take turns.
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

constexpr int kRows = 128, kColumns = 256, kDepth = 128;  // of a tile of c; of a step along k
constexpr int kBox = 64 * 128, kBytesA = kRows * kDepth, kBytes = kBytesA + kColumns * kDepth;

// The tiles of c in the order in which blocks take them.
struct Tiles {
  int down, across, steps;  // steps along k, a multiple of DRAIN
  __device__ __forceinline__ Tiles(int M, int N, int K)
      : down((M + kRows - 1) / kRows),
        across((N + kColumns - 1) / kColumns),
        steps((K + kDepth * DRAIN - 1) / (kDepth * DRAIN) * DRAIN) {}
  __device__ __forceinline__ int count() const { return down * across; }
  __device__ __forceinline__ void place(int tile, int& m0, int& n0) const {
    const int band = tile / (BAND * across), within = tile % (BAND * across), rows = min(BAND, down - band * BAND);
    m0 = (band * BAND + within % rows) * kRows;
    n0 = within / rows * kColumns;
  }
};

// 64 x 256 results of a warpgroup, in four pieces of 64 columns and two buffers.
__device__ __forceinline__ void store(const float (&sums)[128], float scale, const CUtensorMap* c_map, unsigned buffers,
                                      int m, int n) {
  const int group = threadIdx.x / 128, t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, high = t % 32 / 16;
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    const unsigned buffer = buffers + q % 2 * kBox;
    if (t == 0) tma::wait_read<1>();  // the buffer has been read
    warpgroup::sync<128>(1 + group);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float* d = sums + 32 * q + 8 * j;
      store_matrices(buffer + swizzled(row, 2 * j + high), pack_bf16(scale * d[0], scale * d[1]),
                     pack_bf16(scale * d[2], scale * d[3]), pack_bf16(scale * d[4], scale * d[5]),
                     pack_bf16(scale * d[6], scale * d[7]));
    }
    tma::fence();
    warpgroup::sync<128>(1 + group);
    if (t == 0) {
      tma::store(c_map, n + 64 * q, m, buffer);
      tma::commit();
    }
  }
}

// ldmatrix: 16 rows and 32 bytes of a row of the swizzled tile, as wgmma takes e4m3 from registers.
__device__ __forceinline__ void load_rows(unsigned (&a)[8], int at, unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[at]), "=r"(a[at + 1]), "=r"(a[at + 2]), "=r"(a[at + 3])
               : "r"(from)
               : "memory");
}

// One thread's: rows beyond M, N and K read as zeros.
__device__ __forceinline__ void fetch(const CUtensorMap* a_map, const CUtensorMap* b_map, const Tiles& tiles,
                                      unsigned memory, unsigned full, unsigned empty) {
  Ring<STAGES> ring;
  for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x) {
    int m0, n0;
    tiles.place(tile, m0, n0);
    for (int step = 0; step < tiles.steps; ++step) {
      const unsigned barrier = full + 8 * ring.stage, to = memory + ring.stage * kBytes;
      mbarrier::wait(empty + 8 * ring.stage, ring.phase ^ 1);
      mbarrier::expect(barrier, kBytes);
      tma::load(to, a_map, step * kDepth, m0, barrier);
      tma::load(to + kBytesA, b_map, step * kDepth, n0, barrier);
      ring.advance();
    }
  }
}

// A warpgroup's: 64 x 256 of each tile.
__device__ __forceinline__ void multiply_tiles(const CUtensorMap* c_map, float scale, const Tiles& tiles,
                                               unsigned memory, unsigned full, unsigned empty) {
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
  const unsigned buffers = memory + STAGES * kBytes + group * 2 * kBox;
  Ring<STAGES> ring;
  // Of a step's a: row lane % 16 of this warp's, chunk lane / 16; the chunk of another 32 of k differs in two bits.
  const unsigned own = memory + swizzled(threadIdx.x / 32 * 16 + lane % 16, lane / 16);
  float sums[128], parts[2][32];
  unsigned left[2][8];  // 64 x 64 of a each
  const auto load = [&](int half) {
    const unsigned from = own + ring.stage * kBytes;
    load_rows(left[half], 0, from ^ (64 * half));
    load_rows(left[half], 4, from ^ (64 * half + 32));
  };
  // Pieces are products of 64 rows, 64 columns and 64 of k.
  const auto multiply = [&](int piece, unsigned long long right) {
    const int half = piece / 4;
    const unsigned long long at = right + (piece % 4 * kBox >> 4) + half * (64 >> 4);
    float(&part)[32] = parts[piece % 2];
    wgmma::settle(part);
    wgmma::settle(left[half]);
    wgmma::fence();
    wgmma::multiply<wgmma::e4m3>(part, left[half][0], left[half][1], left[half][2], left[half][3], at, 0);
    wgmma::multiply<wgmma::e4m3>(part, left[half][4], left[half][5], left[half][6], left[half][7], at + (32 >> 4), 1);
    wgmma::commit();
  };
  const auto promote = [&](int piece) {
    wgmma::settle(parts[piece % 2]);
#pragma unroll
    for (int e = 0; e < 32; ++e) sums[32 * (piece % 4) + e] += parts[piece % 2][e];
  };
  const auto tile_of_b = [&]() { return wgmma::k_major_tile(memory + ring.stage * kBytes + kBytesA); };

  for (int tile = blockIdx.x; tile < tiles.count(); tile += gridDim.x) {
#pragma unroll
    for (int e = 0; e < 128; ++e) sums[e] = 0.0f;
    mbarrier::wait(full + 8 * ring.stage, ring.phase);
    load(0);
    for (int step = DRAIN; step <= tiles.steps; step += DRAIN) {
      unsigned long long right = tile_of_b();
      unsigned used;
      multiply(0, right);
#pragma unroll
      for (int piece = 0; piece < 8 * DRAIN; ++piece) {
        const bool last = piece == 8 * DRAIN - 1;
        if (piece % 8 == 7) right = tile_of_b();  // of the next step
        if (!last) multiply((piece + 1) % 8, right);
        // Nothing stays in flight where the loop closes, or ptxas waits for each piece (its note C7514).
        if (last) {
          wgmma::wait<0>();
        } else {
          wgmma::wait<1>();  // the piece is done
        }
        if (piece % 8 == 0) load(1);
        if (piece % 8 == 5) {
          used = empty + 8 * ring.stage;
          ring.advance();
          if (piece < 8 * DRAIN - 3 || step < tiles.steps) {
            mbarrier::wait(full + 8 * ring.stage, ring.phase);
            load(0);
          }
        }
        if (piece % 8 == 7) {
          __syncwarp();  // all lanes have read their rows of a
          if (lane == 0) mbarrier::arrive(used);
        }
        promote(piece % 8);
      }
    }
    int m0, n0;
    tiles.place(tile, m0, n0);
    store(sums, scale, c_map, buffers, m0 + 64 * group, n0);
  }
  if (threadIdx.x % 128 == 0) tma::wait<0>();
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, const float* scale_a, const float* scale_b, int M, int N, int K) {
  extern __shared__ unsigned char raw[];
  __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
  const unsigned memory = round_up(shared_address(raw), 1024);  // swizzling wants 1024 bytes
  const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
  const Tiles tiles(M, N, K);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, 8);  // warps
    }
    mbarrier::fence_init();
  }
  __syncthreads();
  if (threadIdx.x / 128 == 2) {
    warpgroup::keep_registers<40>();
    if (threadIdx.x == 256) fetch(&a_map, &b_map, tiles, memory, full, empty);
  } else {
    warpgroup::take_registers<232>();
    multiply_tiles(&c_map, scale_a[0] * scale_b[0], tiles, memory, full, empty);
  }
}

// A 64 x 64 tile of c for each block.
extern "C" __global__ void __launch_bounds__(256)
    gemm_of_any_shape(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* scale_a, const float* scale_b,
                      __nv_bfloat16* c, int M, int N, int K) {
  extern __shared__ unsigned char raw[];
  const float scale = scale_a[0] * scale_b[0];
  const int across = (N + 63) / 64, m0 = blockIdx.x / across * 64, n0 = blockIdx.x % across * 64;
  plain_tile<256, true>((float*)raw, a, b, m0, M, n0, N, K,
                        [&](int m, int n, float sum) { c[(size_t)m * N + n] = __float2bfloat16(scale * sum); });
}
