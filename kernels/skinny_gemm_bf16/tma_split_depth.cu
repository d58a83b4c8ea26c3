/* kernelwright
{
  "problem": "skinny_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "bands of w of one size for all clusters, K split in a cluster, a deep TMA ring, mma with w on the left",
  "tunables": {"CLUSTER": [1, 2, 4], "ROWS": [128, 256], "DEPTH": [256, 128], "BLOCKS": [132, 128], "FIRST": [1, 0]},
  "constraints": ["(ROWS == 128) + (CLUSTER > 1) * (DEPTH == 128)",
                  "(CLUSTER < 4) + (ROWS == 256) * (BLOCKS == 128)"],
  "tensor_maps": {
    "w_map": {"tensor": "w", "l2_promotion": 256, "when": "K % 8 == 0",
              "box": ["(M <= 32) * DEPTH + (M > 32) * 128",
                      "ceil_div(N, BLOCKS / CLUSTER * ceil_div(N, BLOCKS / CLUSTER * ROWS))"]},
    "x_map": {"tensor": "x", "l2_promotion": 256, "when": "K % 8 == 0",
              "box": ["(M <= 32) * DEPTH + (M > 32) * 128", "M"]}
  },
  "launches": [
    {"kernel": "gemm", "grid": ["CLUSTER * min(BLOCKS / CLUSTER, N)", 1, 1], "block": [256, 1, 1],
     "cluster": ["CLUSTER", 1, 1], "shared_bytes": 231424,
     "args": ["w_map", "x_map", "x", "w", "y", "M", "N", "K",
              "ceil_div(N, BLOCKS / CLUSTER * ceil_div(N, BLOCKS / CLUSTER * ROWS))", "K % 8 == 0"]}
  ]
}
*/
// y[m, n] = sum_k x[m, k] * w[n, k]; x: [M, K], w: [N, K], y: [M, N], all row-major.
//
// Reading w bounds it. Each cluster owns a band of `rows` rows of w, ROWS at most, chosen so that all clusters have the
// same number of bands and all end together; the plan computes it from N and gives the tensor map a box of that height.
// The blocks of a cluster split K: each takes CLUSTER times the rows over a part of K, which reads x from L2 that much
// less often than whole rows of w would. One thread fetches DEPTH columns of the band and of x by TMA, as many steps
// ahead as shared memory holds, also into the next band. FIRST marks w as what L2 gives up first.
//
// Eight warps multiply with mma.sync, in four groups of row tiles and two halves of each 128 columns. Rows of w are the
// left operand, tokens the right one, so that up to eight tokens fill one instruction. A lane reads 16 bytes of a row
// at a time. This permutes k, in both operands alike. Rows lie a multiple of 128 bytes apart, and lanes of odd rows
// read the two halves of 128 bytes in the other order, so that eight lanes use all banks. Sums of both halves and of
// all blocks meet in shared memory of the cluster, where each block adds up its share of the tokens, in a fixed order.
//
// Rows whose length is no multiple of 8 have no tensor maps and take fp32 arithmetic. Beyond 32 tokens x takes a large
// part of the traffic.
//
// H200, 2026-11-28, judged once: 41.9 us at 16 x 8192 x 8192 and 46.4 us at 24 x 5120 x 13824, 71 and 68 % of the
// bound; clusters of two take 45.4 and 46.9 us.
#include <cuda.h>
#include <cuda_bf16.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/plain_gemm.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

using namespace kw;

constexpr int kWarps = 8, kMostStages = 16, kTiles = ROWS / 64;  // of 16 rows, for each warp
constexpr int kPitch = ROWS + 4;  // of sums, in floats: lanes of a warp store them without bank conflicts
constexpr int kMemory = 231424;   // dynamic shared memory

__device__ __forceinline__ void load_w(unsigned to, const CUtensorMap* map, int x, int y, unsigned barrier) {
  if constexpr (FIRST == 0) {
    tma::load(to, map, x, y, barrier);
  } else {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(barrier), "l"(policy)
        : "memory");
  }
}

__device__ __forceinline__ void multiply(float (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                         unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// A lane's 32 bytes of 64 columns of a row, from: its first 16 bytes.
__device__ __forceinline__ void load_row(uint4 (&columns)[2], const unsigned char* from, bool odd) {
  const uint4 a = *(const uint4*)(from + (odd ? 64 : 0)), b = *(const uint4*)(from + (odd ? 0 : 64));
  columns[0] = odd ? b : a;
  columns[1] = odd ? a : b;
}

// Blocks of eight tokens; columns of a step.
template <int eights, int depth>
__device__ __forceinline__ void multiply_bands(const CUtensorMap* w_map, const CUtensorMap* x_map,
                                               unsigned char* memory, unsigned full, unsigned empty,
                                               __nv_bfloat16* __restrict__ y, int M, int N, int K, int rows) {
  constexpr int kSums = 8 * eights * kPitch;  // floats of one half of the columns
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int group = warp % 4, half = warp / 4;
  const int rank = blockIdx.x % CLUSTER, first = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
  const int bands = (N + rows - 1) / rows, chunks = (K + depth - 1) / depth;
  const int begin = chunks * rank / CLUSTER, end = chunks * (rank + 1) / CLUSTER;
  // Sums lie in the ring, once it is empty, or behind it, if another band follows.
  const int ring_bytes = kMemory - (bands > clusters ? 8 * kSums : 0), bytes = 2 * depth * (rows + M);
  const int stages = min(ring_bytes / bytes, kMostStages);
  float* sums_of = (float*)(memory + (bands > clusters ? ring_bytes : 0));

  int next_band = first, next = begin;  // what the first thread fetches
  const auto fetch = [&](int stage) {
    if (next_band >= bands || begin == end) return;
    const unsigned barrier = full + 8 * stage, to = shared_address(memory) + stage * bytes;
    mbarrier::expect(barrier, bytes);
    load_w(to, w_map, next * depth, next_band * rows, barrier);
    tma::load(to + 2 * depth * rows, x_map, next * depth, 0, barrier);
    if (++next == end) {
      next = begin;
      next_band += clusters;
    }
  };
  if (threadIdx.x == 32) {
    tma::prefetch(w_map);
    tma::prefetch(x_map);
  }
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbarrier::init(full + 8 * s, 1);
      mbarrier::init(empty + 8 * s, kWarps);
    }
    tma::fence();
    for (int s = 0; s < stages; ++s) fetch(s);
  }
  __syncthreads();

  int w_at[kTiles][2], x_at[eights];  // bytes from the start of a stage; surplus rows and tokens repeat the last one
#pragma unroll
  for (int i = 0; i < 2 * kTiles; ++i) {
    w_at[i / 2][i % 2] = 2 * depth * min(16 * (group + i / 2 * 4) + i % 2 * 8 + g, rows - 1) + half * 128 + t * 16;
  }
#pragma unroll
  for (int e = 0; e < eights; ++e) x_at[e] = 2 * depth * (rows + min(8 * e + g, M - 1)) + half * 128 + t * 16;
  const bool odd = g % 2;

  int stage = 0, phase = 0;
  for (int band = first; band < bands; band += clusters) {
    float sums[kTiles][eights][4] = {};
    for (int chunk = begin; chunk < end; ++chunk) {
      mbarrier::wait(full + 8 * stage, phase);
      const unsigned char* from = memory + stage * bytes;
#pragma unroll
      for (int k = 0; k < depth / 128; ++k) {
        uint4 right[eights][2];
#pragma unroll
        for (int e = 0; e < eights; ++e) load_row(right[e], from + x_at[e] + k * 256, odd);
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
          if (16 * (group + 4 * i) >= rows) continue;
          uint4 upper[2], lower[2];
          load_row(upper, from + w_at[i][0] + k * 256, odd);
          load_row(lower, from + w_at[i][1] + k * 256, odd);
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const uint4 u = upper[c], l = lower[c];
#pragma unroll
            for (int e = 0; e < eights; ++e) multiply(sums[i][e], u.x, l.x, u.y, l.y, right[e][c].x, right[e][c].y);
#pragma unroll
            for (int e = 0; e < eights; ++e) multiply(sums[i][e], u.z, l.z, u.w, l.w, right[e][c].z, right[e][c].w);
          }
        }
      }
      __syncwarp();  // all lanes have read the stage
      if (lane == 0) mbarrier::arrive(empty + 8 * stage);
      if (threadIdx.x == 0) {
        mbarrier::wait(empty + 8 * stage, phase);
        fetch(stage);
      }
      if (++stage == stages) {
        stage = 0;
        phase ^= 1;
      }
    }

    __syncthreads();  // all warps have read their last stage
    float* mine = sums_of + half * kSums;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      const int row = 16 * (group + 4 * i) + g;
      if (row - g >= rows) continue;
#pragma unroll
      for (int e = 0; e < eights; ++e) {
        float* to = mine + (8 * e + 2 * t) * kPitch + row;
        to[0] = sums[i][e][0];
        to[kPitch] = sums[i][e][1];
        to[8] = sums[i][e][2];
        to[kPitch + 8] = sums[i][e][3];
      }
    }
    cluster::sync<CLUSTER>();
    const int n0 = band * rows, count = min(rows, N - n0);
    for (int m = warp + kWarps * rank; m < M; m += kWarps * CLUSTER) {
#pragma unroll 4
      for (int n = lane; n < count; n += 32) {
        float sum = 0.0f;
#pragma unroll
        for (int block = 0; block < CLUSTER; ++block) {
          const unsigned at = cluster::map(shared_address(sums_of + m * kPitch + n), block);
          sum += cluster::load(at) + cluster::load(at + 4 * kSums);
        }
        y[(size_t)m * N + n0 + n] = __float2bfloat16(sum);
      }
    }
    cluster::sync<CLUSTER>();  // no block overwrites its sums, or leaves, while another reads them
  }
}

extern "C" __global__ void __launch_bounds__(32 * kWarps, 1)
    gemm(const __grid_constant__ CUtensorMap w_map, const __grid_constant__ CUtensorMap x_map,
         const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y, int M,
         int N, int K, int rows, int mapped) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ __align__(8) unsigned long long barriers[2 * kMostStages];
  const unsigned full = shared_address(barriers), empty = full + 8 * kMostStages;
  if (!mapped) {
    for (int tile = blockIdx.x; tile < (N + 63) / 64; tile += gridDim.x) {
      plain_tile<32 * kWarps, true>((float*)memory, x, w, 0, M, tile * 64, N, K,
                                    [&](int m, int n, float sum) { y[(size_t)m * N + n] = __float2bfloat16(sum); });
    }
  } else if (M <= 8) {
    multiply_bands<1, DEPTH>(&w_map, &x_map, memory, full, empty, y, M, N, K, rows);
  } else if (M <= 16) {
    multiply_bands<2, DEPTH>(&w_map, &x_map, memory, full, empty, y, M, N, K, rows);
  } else if (M <= 24) {
    multiply_bands<3, DEPTH>(&w_map, &x_map, memory, full, empty, y, M, N, K, rows);
  } else if (M <= 32) {
    multiply_bands<4, DEPTH>(&w_map, &x_map, memory, full, empty, y, M, N, K, rows);
  } else if (M <= 48) {
    multiply_bands<6, 128>(&w_map, &x_map, memory, full, empty, y, M, N, K, rows);
  } else {
    multiply_bands<8, 128>(&w_map, &x_map, memory, full, empty, y, M, N, K, rows);
  }
}
