/* kernelwright
{
  "problem": "unaligned_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "a and b copied to aligned rows; mma.sync, STAGES tiles under way by cp.async; whole words of c",
  "tunables": {"BM": [128, 256, 64], "BN": [128, 64], "WM": [64, 32], "WN": [32, 64], "STAGES": [3, 2, 4],
               "BAND": [16, 8], "COPIERS": [528, 1056]},
  "constraints": ["(BM / WM) * (BN / WN) >= 2", "(BM / WM) * (BN / WN) <= 8",
                  "STAGES * (BM + BN) * 128 <= 166912"],
  "workspace": {
    "a_padded": {"bytes": "128 * M * ceil_div(K, 64)"},
    "b_padded": {"bytes": "128 * K * ceil_div(N, 64)"}
  },
  "launches": [
    {"kernel": "prepare", "grid": ["COPIERS", 1, 1], "block": [256, 1, 1],
     "args": ["a", "b", "a_padded", "b_padded", "M", "N", "K"]},
    {"kernel": "gemm", "grid": ["ceil_div(M, BM) * ceil_div(N, BN)", 1, 1],
     "block": ["32 * (BM / WM) * (BN / WN)", 1, 1], "shared_bytes": "STAGES * (BM + BN) * 128",
     "args": ["a_padded", "b_padded", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// The first launch copies a and b to rows of whole 128 bytes: a thread loads the two aligned words of 16 bytes that
// hold eight elements and shifts them into place. So cp.async can bring 16 bytes at a time for all shapes.
//
// A block makes a BM x BN tile of c in steps of 64 along k, each of its warps WM x WN of it with mma.sync (m16n8k16).
// STAGES pairs of tiles are in shared memory or under way to it; zeros stand for what lies outside. Their rows have 128
// bytes, swizzled, so that ldmatrix finds eight rows in different banks; it transposes those of b. Blocks go through
// the tiles of c in bands of BAND along m, to share rows of a and columns of b in L2. Results pass through shared
// memory and leave row by row in aligned words of 16 bytes; only the ends of a row within a tile are written element by
// element.
//
// Not yet timed on an A100; on an H200 it takes 2.8 times as long as padded_wgmma.
#include <cuda_bf16.h>
#include <kw/pack.cuh>
#include <kw/shared.cuh>
#include <kw/unaligned.cuh>

using namespace kw;

constexpr int kDepth = 64, kWarpsAcross = BN / WN, kThreads = 32 * (BM / WM) * kWarpsAcross;
constexpr int kBox = kDepth * 128, kBytesA = BM * 128, kBytes = kBytesA + BN / 64 * kBox;  // a box: 64 columns of b
constexpr int kRowsOf16 = WM / 16, kColumnsOf16 = WN / 16;

extern "C" __global__ void __launch_bounds__(256, 2)
    prepare(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, void* a_padded, void* b_padded,
            int M, int N, int K) {
  unaligned::copy_padded(a_padded, a, M, K, (K + 63) / 64 * 64);
  unaligned::copy_padded(b_padded, b, K, N, (N + 63) / 64 * 64);
}

__device__ __forceinline__ void copy16(unsigned to, const __nv_bfloat16* from, size_t at, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from + (inside ? at : 0)),
               "r"(inside ? 16 : 0)
               : "memory");
}

__device__ __forceinline__ void load_matrices(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void load_transposed(unsigned (&words)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, __nv_bfloat16* __restrict__ c, int M,
         int N, int K) {
  extern __shared__ __align__(128) unsigned char raw[];
  const unsigned memory = shared_address(raw);
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row = warp / kWarpsAcross * WM, column = warp % kWarpsAcross * WN;  // of the warp, in the block's tile
  const int across = (N + BN - 1) / BN, down = (M + BM - 1) / BM, steps = (K + kDepth - 1) / kDepth;
  const int band = blockIdx.x / (BAND * across), within = blockIdx.x % (BAND * across);
  const int rows = min(BAND, down - band * BAND);
  const int m0 = (band * BAND + within % rows) * BM, n0 = within / rows * BN;
  const int pitch_a = steps * kDepth, pitch_b = (N + 63) / 64 * 64;

  const auto fetch = [&](int step) {
    if (step < steps) {
      const unsigned to = memory + step % STAGES * kBytes;
      const int k0 = step * kDepth;
#pragma unroll
      for (int e = t; e < BM * 8; e += kThreads) {
        const int r = e / 8, chunk = e % 8;
        copy16(to + swizzled(r, chunk), a, (size_t)(m0 + r) * pitch_a + k0 + 8 * chunk, m0 + r < M);
      }
#pragma unroll
      for (int e = t; e < kDepth * (BN / 8); e += kThreads) {
        const int k = e / (BN / 8), chunk = e % (BN / 8), n = n0 + 8 * chunk;
        copy16(to + kBytesA + chunk / 8 * kBox + swizzled(k, chunk % 8), b, (size_t)(k0 + k) * pitch_b + n,
               k0 + k < K && n < pitch_b);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step);
  float sums[kRowsOf16][2 * kColumnsOf16][4] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();  // the tiles are here, and all have left the stage that is filled now
    fetch(step + STAGES - 1);
    const unsigned tiles = memory + step % STAGES * kBytes;
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      unsigned left[kRowsOf16][4], right[kColumnsOf16][4];
#pragma unroll
      for (int i = 0; i < kRowsOf16; ++i) {
        load_matrices(left[i], tiles + swizzled(row + 16 * i + lane % 16, k / 8 + lane / 16));
      }
#pragma unroll
      for (int j = 0; j < kColumnsOf16; ++j) {
        const int chunk = column / 8 + 2 * j + lane / 16;
        load_transposed(right[j], tiles + kBytesA + chunk / 8 * kBox + swizzled(k + lane % 16, chunk % 8));
      }
#pragma unroll
      for (int i = 0; i < kRowsOf16; ++i) {
#pragma unroll
        for (int j = 0; j < 2 * kColumnsOf16; ++j) {
          float(&d)[4] = sums[i][j];
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
              : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j / 2][j % 2 * 2]),
                "r"(right[j / 2][j % 2 * 2 + 1]));
        }
      }
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();

  const auto place = [&](int r, int chunk) { return raw + chunk / 8 * kBytesA + swizzled(r, chunk % 8); };
#pragma unroll
  for (int i = 0; i < 2 * kRowsOf16; ++i) {
#pragma unroll
    for (int j = 0; j < 2 * kColumnsOf16; ++j) {
      const float* d = &sums[i / 2][j][i % 2 * 2];
      *(unsigned*)(place(row + 8 * i + lane / 4, column / 8 + j) + lane % 4 * 4) = pack_bf16(d[0], d[1]);
    }
  }
  __syncthreads();
#pragma unroll 4
  for (int r = t / (BN / 8); r < BM; r += kThreads / (BN / 8)) {
    if (m0 + r >= M) break;
    unaligned::store_row<BN>(c, (size_t)(m0 + r) * N + n0, N - n0, t % (BN / 8),
                             [&](int chunk) { return place(r, chunk); });
  }
}
