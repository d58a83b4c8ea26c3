/* kernelwright
{
  "problem": "skinny_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_90",
  "description": "a ring of long row pieces of w by bulk copies, x from L2 into registers, warps split each piece",
  "tunables": {"CLUSTER": [1, 2], "DEPTH": [1024, 2048, 512], "KIB": [225, 160, 100], "BLOCKS": [132, 128],
               "FIRST": [1, 0]},
  "constraints": ["KIB >= DEPTH / 16 + 36",
                  "(CLUSTER != 1) + (DEPTH != 1024) + (KIB != 225) + (BLOCKS != 132) + (FIRST != 1) <= 2"],
  "launches": [
    {"kernel": "gemm", "grid": ["CLUSTER * min(BLOCKS / CLUSTER, N)", 1, 1], "block": [256, 1, 1],
     "cluster": ["CLUSTER", 1, 1], "shared_bytes": "KIB * 1024",
     "args": ["x", "w", "y", "M", "N", "K", "K % 8 == 0"]}
  ]
}
*/
// y[m, n] = sum_k x[m, k] * w[n, k]; x: [M, K], w: [N, K], y: [M, N], all row-major.
//
// Reading w bounds it, so w is read in long pieces and everything else stays out of its way. A block owns a band of
// rows of w, of one height for all blocks, and walks along k in pieces of DEPTH columns. A stage of the ring holds a
// piece of 16 rows, each brought by one bulk copy of 2 * DEPTH contiguous bytes. Nothing but w is in the ring, so that
// it has nearly all of KIB under way. FIRST marks w as what L2 gives up first.
//
// Each of eight warps multiplies its eighth of a piece's columns, for all rows of the band. It keeps that part of x in
// registers, loaded from L2 once a piece and used for all rows; the ring hides the wait. The first loads of x go out
// before those of w, which would hold them up, and all blocks together prefetch the rest of x into L2. Rows of w are
// the left operand of mma.sync, tokens the right one. A lane reads 16 bytes of a row at a time, which permutes k in
// both operands alike. Rows in the ring lie 64 bytes more than a piece apart, so that eight lanes use all banks.
// At the end of a band, sums of the warps meet in shared memory and are added in a fixed order.
//
// With CLUSTER, blocks of a cluster split K and have bands so much higher: each reads less of x. They add up each
// other's sums through shared memory of the cluster.
//
// Rows whose length is no multiple of 8 cannot be copied so and take fp32 arithmetic. Expected: 85 % of the bound for
// up to 16 tokens, a little less for 24. Not yet timed on a GPU.
#include <cuda_bf16.h>
#include <kw/cluster.cuh>
#include <kw/mbarrier.cuh>
#include <kw/plain_gemm.cuh>
#include <kw/shared.cuh>
#include <kw/tma.cuh>

using namespace kw;

__device__ constexpr int lesser(int a, int b) { return a < b ? a : b; }
constexpr int kWarps = 8, kMemory = KIB * 1024, kMostStages = 16;

// What depends on the number of tokens, in blocks of eight.
template <int eights>
struct Shape {
  static constexpr int kDepth = eights <= 3 ? DEPTH : lesser(DEPTH, 512);  // columns of a piece
  static constexpr int kPart = kDepth / kWarps, kPacks = kPart / 32;  // columns of a warp; in packs of 8 for 4 lanes
  static constexpr int kRowBytes = 2 * kDepth + 64, kBytes = 16 * kRowBytes;  // of a stage
  // Tiles of 16 rows in a band: sums and x fit the registers, and sums fit shared memory beside a stage.
  static constexpr int kTiles =
      lesser(eights <= 3 ? 4 * CLUSTER : 4,
             lesser((156 - 4 * eights * kPacks) / (4 * eights), ((kMemory - kBytes) / (256 * eights) - 4) / 16));
  static constexpr int kPitch = 16 * kTiles + 4;     // of sums, in floats: lanes of a warp store without bank conflicts
  static constexpr int kSums = 8 * eights * kPitch;  // floats of a warp
  static_assert(kTiles >= 1 && 4 * kWarps * kSums + kBytes <= kMemory);
};

__device__ __forceinline__ void load_w(unsigned to, const __nv_bfloat16* from, int bytes, unsigned barrier) {
  if constexpr (FIRST == 0) {
    tma::load_bytes(to, from, bytes, barrier);
  } else {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
            "r"(to),
        "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
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

template <int eights>
__device__ __forceinline__ void multiply_bands(unsigned char* memory, unsigned full, unsigned empty,
                                               const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                                               __nv_bfloat16* __restrict__ y, int M, int N, int K) {
  using S = Shape<eights>;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int rank = blockIdx.x % CLUSTER, first = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
  // This block's columns of w, whole lines of memory.
  const int lines = (K + 63) / 64;
  const int begin = min(K, lines * rank / CLUSTER * 64), end = min(K, lines * (rank + 1) / CLUSTER * 64);

  const int column = warp * S::kPart + 8 * t;  // of a piece: this lane's first one
  uint4 right[eights][S::kPacks];
  const auto load_x = [&](int k) {
#pragma unroll
    for (int e = 0; e < eights; ++e) {
      const __nv_bfloat16* from = x + (size_t)min(8 * e + g, M - 1) * K + k + column;  // surplus tokens repeat the last
#pragma unroll
      for (int p = 0; p < S::kPacks; ++p) {
        right[e][p] = k + column + 32 * p < end ? __ldg((const uint4*)(from + 32 * p)) : make_uint4(0u, 0u, 0u, 0u);
      }
    }
  };
  load_x(begin);

  // All bands have the same height, and all clusters the same number of them but for the last.
  const int most = (N + clusters * 16 * S::kTiles - 1) / (clusters * 16 * S::kTiles);
  const int rows = (N + clusters * most - 1) / (clusters * most), bands = (N + rows - 1) / rows;
  // Sums lie in the ring, once it is empty, or behind it, if another band may follow.
  const int ring_bytes = kMemory - (bands > clusters ? 4 * kWarps * S::kSums : 0);
  const int stages = min(ring_bytes / S::kBytes, kMostStages);
  float* sums_of = (float*)(memory + (bands > clusters ? ring_bytes : 0));

  int next_band = first, next_k = begin, next_row = 0;  // what the first warp fetches
  const auto fetch = [&](int stage) {
    if (next_band >= bands || begin == end) return;
    const int row = next_band * rows + next_row, left = min(rows, N - next_band * rows) - next_row;
    const int bytes = 2 * min(S::kDepth, end - next_k);
    const unsigned barrier = full + 8 * stage;
    if (lane == 0) mbarrier::expect(barrier, bytes * min(16, left));
    __syncwarp();
    if (lane < min(16, left)) {
      load_w(shared_address(memory) + stage * S::kBytes + lane * S::kRowBytes, w + (size_t)(row + lane) * K + next_k,
             bytes, barrier);
    }
    next_row += 16;
    if (left > 16) return;
    next_row = 0;
    next_k += S::kDepth;
    if (next_k < end) return;
    next_k = begin;
    next_band += clusters;
  };
  if (warp == 0) {
    if (lane == 0) {
      for (int s = 0; s < stages; ++s) {
        mbarrier::init(full + 8 * s, 1);
        mbarrier::init(empty + 8 * s, kWarps);
      }
      tma::fence();
    }
    __syncwarp();
    for (int s = 0; s < stages; ++s) fetch(s);
  }
  const size_t x_bytes = (size_t)2 * M * K;
  for (size_t at = (size_t)128 * (blockIdx.x + gridDim.x * threadIdx.x); at < x_bytes;
       at += (size_t)128 * 256 * gridDim.x) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"((const char*)x + at));
  }
  __syncthreads();  // the barriers are set up

  int stage = 0, phase = 0;
  for (int band = first; band < bands; band += clusters) {
    const int n0 = band * rows, count = min(rows, N - n0);
    float sums[S::kTiles][eights][4] = {};
    for (int k = begin; k < end; k += S::kDepth) {
#pragma unroll
      for (int i = 0; i < S::kTiles; ++i) {
        const int last = count - 16 * i - 1;  // surplus rows repeat this one
        if (last < 0) break;
        mbarrier::wait(full + 8 * stage, phase);
        const unsigned char* from = memory + stage * S::kBytes + 2 * column;
        const unsigned char *upper = from + min(g, last) * S::kRowBytes,
                            *lower = from + min(g + 8, last) * S::kRowBytes;
#pragma unroll
        for (int p = 0; p < S::kPacks; ++p) {
          uint4 u = make_uint4(0u, 0u, 0u, 0u), l = u;
          if (k + column + 32 * p < end) {
            u = *(const uint4*)(upper + 64 * p);
            l = *(const uint4*)(lower + 64 * p);
          }
#pragma unroll
          for (int e = 0; e < eights; ++e) multiply(sums[i][e], u.x, l.x, u.y, l.y, right[e][p].x, right[e][p].y);
#pragma unroll
          for (int e = 0; e < eights; ++e) multiply(sums[i][e], u.z, l.z, u.w, l.w, right[e][p].z, right[e][p].w);
        }
        __syncwarp();  // all lanes have read the stage
        if (lane == 0) mbarrier::arrive(empty + 8 * stage);
        if (warp == 0) {
          mbarrier::wait(empty + 8 * stage, phase);
          fetch(stage);
        }
        if (++stage == stages) {
          stage = 0;
          phase ^= 1;
        }
      }
      if (k + S::kDepth < end) {
        load_x(k + S::kDepth);
      } else if (band + clusters < bands) {
        load_x(begin);
      }
    }

    __syncthreads();  // all warps have read their last stage
    float* mine = sums_of + warp * S::kSums;
#pragma unroll
    for (int i = 0; i < S::kTiles; ++i) {
      if (16 * i >= count) break;
#pragma unroll
      for (int e = 0; e < eights; ++e) {
        float* to = mine + (8 * e + 2 * t) * S::kPitch + 16 * i + g;
        to[0] = sums[i][e][0];
        to[S::kPitch] = sums[i][e][1];
        to[8] = sums[i][e][2];
        to[S::kPitch + 8] = sums[i][e][3];
      }
    }
    cluster::sync<CLUSTER>();
    for (int m = warp + kWarps * rank; m < M; m += kWarps * CLUSTER) {
#pragma unroll 2
      for (int n = lane; n < count; n += 32) {
        float sum = 0.0f;
#pragma unroll
        for (int block = 0; block < CLUSTER; ++block) {
          const unsigned at = cluster::map(shared_address(sums_of + m * S::kPitch + n), block);
#pragma unroll
          for (int v = 0; v < kWarps; ++v) sum += cluster::load(at + 4 * v * S::kSums);
        }
        y[(size_t)m * N + n0 + n] = __float2bfloat16(sum);
      }
    }
    cluster::sync<CLUSTER>();  // no block overwrites its sums, or leaves, while another reads them
  }
}

extern "C" __global__ void __launch_bounds__(32 * kWarps, 1)
    gemm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y, int M,
         int N, int K, int aligned) {
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ __align__(8) unsigned long long barriers[2 * kMostStages];
  const unsigned full = shared_address(barriers), empty = full + 8 * kMostStages;
  if (!aligned) {
    for (int tile = blockIdx.x; tile < (N + 63) / 64; tile += gridDim.x) {
      plain_tile<32 * kWarps, true>((float*)memory, x, w, 0, M, tile * 64, N, K,
                                    [&](int m, int n, float sum) { y[(size_t)m * N + n] = __float2bfloat16(sum); });
    }
  } else if (M <= 8) {
    multiply_bands<1>(memory, full, empty, x, w, y, M, N, K);
  } else if (M <= 16) {
    multiply_bands<2>(memory, full, empty, x, w, y, M, N, K);
  } else if (M <= 24) {
    multiply_bands<3>(memory, full, empty, x, w, y, M, N, K);
  } else if (M <= 32) {
    multiply_bands<4>(memory, full, empty, x, w, y, M, N, K);
  } else if (M <= 48) {
    multiply_bands<6>(memory, full, empty, x, w, y, M, N, K);
  } else {
    multiply_bands<8>(memory, full, empty, x, w, y, M, N, K);
  }
}
