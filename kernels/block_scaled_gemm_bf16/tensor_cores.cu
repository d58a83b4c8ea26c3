/* kernelwright
{
  "problem": "block_scaled_gemm_bf16",
  "backends": ["cuda"],
  "arch": "sm_80",
  "description": "fp8 widened to f16 in registers for mma.sync, BM x BN tiles, STAGES buffers filled by cp.async",
  "tunables": {"BM": [128, 64], "BN": [128, 64], "WM": [64, 32], "WN": [32, 64], "STAGES": [3, 2, 4],
               "BAND": [8, 4, 16]},
  "constraints": ["WM * WN <= 2048", "(BM / WM) * (BN / WN) >= 2", "(BM / WM) * (BN / WN) <= 8",
                  "STAGES * (BM + BN) * 144 <= 166912"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BN) * ceil_div(M, BM)", 1, 1],
     "block": ["32 * (BM / WM) * (BN / WN)", 1, 1], "shared_bytes": "STAGES * (BM + BN) * 144",
     "args": ["a", "b", "scale_a", "scale_b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum over blocks j of 128 columns of scale_a[j, m] * scale_b[n / 128, j] * sum_{k in j} a[m, k] * b[n, k];
// a: [M, K], b: [N, K], c: [M, N], scale_a: [ceil(K / 128), M], scale_b: [ceil(N / 128), ceil(K / 128)], all row-major.
//
// A block makes a BM x BN tile of c in steps of 128 along k, which are the blocks of scales; each of its warps makes WM
// x WN of it. cp.async fetches STAGES - 1 steps ahead. ldmatrix moves 16 bytes of eight rows, whatever they hold, so a
// word is four neighbours along k. Its lower and its upper two elements become the words of an f16 fragment that are
// eight apart along k: any order will do that is the same for a and b. f16 holds e4m3 exactly, and shifting the
// exponent into its place makes 2^-8 of the element, in seven instructions for four; the scales make up for it. The
// products of a step are added by m16n8k16 in fp32 and then join the fp32 sums with both scales.
//
// Rows are padded by 16 bytes: the eight rows that are read at once then lie in different banks. Blocks walk down BAND
// tiles before they step across, so that those in work at a time share rows of a and b in L2. Tiles that reach over an
// edge are filled up with zeros; rows whose length is no multiple of 16 are read byte by byte.
//
// H200, 2026-11-28, judged once: 752 us at 4096 x 4096 x 4096. Not run on a GPU before Hopper.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int BK = 128;
constexpr int kWarpsAcross = BN / WN;
constexpr int kThreads = 32 * (BM / WM) * kWarpsAcross;
constexpr int kPitch = BK + 16, kStage = (BM + BN) * kPitch;  // bytes; rows of a come before rows of b

__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// 16 elements of a row-major [rows, columns] matrix from (row, column) to shared memory, zeros beyond its edges.
__device__ __forceinline__ void copy16(unsigned char* to, const unsigned char* __restrict__ from, int row, int column,
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
      if (column + j < columns) words[j / 4] |= (unsigned)from[(size_t)row * columns + column + j] << (8 * (j % 4));
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

// Four e4m3 as two pairs of f16, each 2^-8 of its element: the upper bytes hold sign, exponent and two bits, the lower
// ones the last bit.
__device__ __forceinline__ void widen(unsigned four, unsigned& low, unsigned& high) {
  const unsigned upper = (four & 0x80808080u) | (four >> 1 & 0x3f3f3f3fu), lower = four << 7 & 0x80808080u;
  low = __byte_perm(upper, lower, 0x1504);
  high = __byte_perm(upper, lower, 0x3726);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const __nv_fp8_e4m3* __restrict__ a, const __nv_fp8_e4m3* __restrict__ b, const float* __restrict__ scale_a,
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
          copy16(stage + r * kPitch + k, (const unsigned char*)a, m0 + r, k0 + k, M, K);
        } else {
          copy16(stage + r * kPitch + k, (const unsigned char*)b, n0 + r - BM, k0 + k, N, K);
        }
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) fetch(step);
  float sums[WM / 16][WN / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    float factors[WM / 8];  // of the rows of this thread; 2^16: of a product of widened elements
    const float of_b = 65536.0f * scale_b[n0 / 128 * steps + step];
#pragma unroll
    for (int i = 0; i < WM / 8; ++i) {
      factors[i] = of_b * scale_a[step * M + min(m0 + row + 8 * i + lane / 4, M - 1)];
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    fetch(step + STAGES - 1);
    const unsigned char* stage = stages + step % STAGES * kStage;
    float parts[WM / 16][WN / 8][4] = {};
#pragma unroll
    for (int k = 0; k < BK; k += 32) {
      unsigned right[WN / 8][4];  // of eight columns: words of 16 along k, then of the next 16
#pragma unroll
      for (int j = 0; j < WN / 16; ++j) {  // words 0 and 1 are of the first eight columns, 2 and 3 of the others
        unsigned fours[4];
        load_matrices(fours,
                      stage + (BM + column + 16 * j + lane % 8 + lane / 16 * 8) * kPitch + k + lane / 8 % 2 * 16);
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          widen(fours[w], right[2 * j + w / 2][w % 2 * 2], right[2 * j + w / 2][w % 2 * 2 + 1]);
        }
      }
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
        unsigned fours[4], left[2][4];  // fours 0 and 1: rows 0 and 8 on; 2 and 3: 16 further along k
        load_matrices(fours, stage + (row + 16 * i + lane % 16) * kPitch + k + lane / 16 * 16);
#pragma unroll
        for (int w = 0; w < 4; ++w) widen(fours[w], left[w / 2][w % 2], left[w / 2][w % 2 + 2]);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
          for (int j = 0; j < WN / 8; ++j) {
            float(&d)[4] = parts[i][j];
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                "{%0, %1, %2, %3};"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                : "r"(left[half][0]), "r"(left[half][1]), "r"(left[half][2]), "r"(left[half][3]),
                  "r"(right[j][2 * half]), "r"(right[j][2 * half + 1]));
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
      for (int j = 0; j < WN / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j][e] += factors[2 * i + e / 2] * parts[i][j][e];
      }
    }
  }

#pragma unroll
  for (int j = 0; j < WN / 8; ++j) {
    const int n = n0 + column + 8 * j + lane % 4 * 2;
    if (n >= N) break;
#pragma unroll
    for (int i = 0; i < WM / 8; ++i) {
      const int m = m0 + row + 8 * i + lane / 4;
      if (m >= M) break;
      const float* d = &sums[i / 2][j][i % 2 * 2];
      const __nv_bfloat162 pair = __floats2bfloat162_rn(d[0], d[1]);
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
