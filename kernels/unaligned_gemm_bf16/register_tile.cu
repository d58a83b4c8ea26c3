/* kernelwright
{
  "problem": "unaligned_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread makes ROWS x COLUMNS neighbours of c and shares nothing",
  "tunables": {"ROWS": [4, 8, 2], "COLUMNS": [16, 8, 32], "BLOCK": [32, 64]},
  "constraints": ["ROWS * COLUMNS <= 128"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, COLUMNS)", "ceil_div(M, ROWS * BLOCK)", 1], "block": ["BLOCK", 1, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
//
// A thread owns ROWS rows and COLUMNS columns, which vectors of a processor hold, and uses each element that it reads
// for all of these. The last columns of c are read from further left, so that all threads have COLUMNS of them; a
// thread writes only its own. Elements are read one by one, so no row needs an alignment. This is the version for
// devices without tensor cores. Not yet timed on a GPU.
#include <cuda_bf16.h>

__device__ __forceinline__ float widened(const __nv_bfloat16* from) {
  return __int_as_float((int)((unsigned)*(const unsigned short*)from << 16));
}

// narrow: c has fewer columns than a thread; the last one is read in place of those that are missing.
template <bool narrow>
__device__ __forceinline__ void multiply(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                                         __nv_bfloat16* __restrict__ c, int m0, int n0, int M, int N, int K) {
  const int from = narrow ? 0 : min(n0, N - COLUMNS);
  const __nv_bfloat16* row[ROWS];  // surplus rows repeat the last one
#pragma unroll
  for (int r = 0; r < ROWS; ++r) row[r] = a + (size_t)min(m0 + r, M - 1) * K;
  float sums[ROWS][COLUMNS] = {};
  for (int k = 0; k < K; ++k) {
    const __nv_bfloat16* at = b + (size_t)k * N + from;
    float right[COLUMNS];
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) right[n] = widened(at + (narrow ? min(n, N - 1) : n));
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float left = widened(row[r] + k);
#pragma unroll
      for (int n = 0; n < COLUMNS; ++n) sums[r][n] += left * right[n];
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int n = 0; n < COLUMNS; ++n) {
      if (m0 + r < M && from + n >= n0 && from + n < N) {
        c[(size_t)(m0 + r) * N + from + n] = __float2bfloat16(sums[r][n]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    gemm(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, __nv_bfloat16* __restrict__ c, int M,
         int N, int K) {
  const int m0 = (blockIdx.y * BLOCK + threadIdx.x) * ROWS, n0 = blockIdx.x * COLUMNS;
  if (m0 >= M) return;
  if (N < COLUMNS) {
    multiply<true>(a, b, c, m0, n0, M, N, K);
  } else {
    multiply<false>(a, b, c, m0, n0, M, N, K);
  }
}
