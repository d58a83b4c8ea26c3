/* kernelwright
{
  "problem": "skinny_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread makes ROWS elements of COLUMNS columns of y, two elements of each row a load",
  "tunables": {"ROWS": [8, 4, 16], "COLUMNS": [4, 2, 1], "BLOCK": [32, 64, 128]},
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BLOCK * COLUMNS)", "ceil_div(M, ROWS)", 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "w", "y", "M", "N", "K"]}
  ]
}
*/
// y[m, n] = sum_k x[m, k] * w[n, k]; x: [M, K], w: [N, K], y: [M, N], all row-major.
//
// A thread owns COLUMNS columns of y and ROWS rows, and uses each element that it reads for all of these. It reads two
// elements of a row at a time and keeps a sum of the even products and one of the odd ones, so that neighbouring
// multiply-adds do not depend on each other. Rows of odd length are not aligned to pairs and are read element by
// element. There is nothing to share between threads, so this is the version for devices without tensor cores.
#include <cuda_bf16.h>

__device__ __forceinline__ float low(unsigned two) { return __uint_as_float(two << 16); }
__device__ __forceinline__ float high(unsigned two) { return __uint_as_float(two & 0xffff0000u); }

extern "C" __global__ void __launch_bounds__(BLOCK)
    gemm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y, int M,
         int N, int K) {
  const int n0 = (blockIdx.x * BLOCK + threadIdx.x) * COLUMNS, m0 = blockIdx.y * ROWS;
  if (n0 >= N) return;
  const __nv_bfloat16 *left[ROWS], *right[COLUMNS];  // surplus rows repeat the last one
#pragma unroll
  for (int r = 0; r < ROWS; ++r) left[r] = x + (size_t)min(m0 + r, M - 1) * K;
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c) right[c] = w + (size_t)min(n0 + c, N - 1) * K;

  float even[COLUMNS][ROWS] = {}, odd[COLUMNS][ROWS] = {};
  if (K % 2 == 0) {
    for (int k = 0; k < K; k += 2) {
      unsigned weights[COLUMNS];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) weights[c] = *(const unsigned*)(right[c] + k);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const unsigned values = *(const unsigned*)(left[r] + k);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
          even[c][r] += low(values) * low(weights[c]);
          odd[c][r] += high(values) * high(weights[c]);
        }
      }
    }
  } else {
    for (int k = 0; k < K; ++k) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const float value = __bfloat162float(left[r][k]);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) even[c][r] += value * __bfloat162float(right[c][k]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (m0 + r >= M) break;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
      if (n0 + c < N) y[(size_t)(m0 + r) * N + n0 + c] = __float2bfloat16(even[c][r] + odd[c][r]);
    }
  }
}
