/* kernelwright
{
  "problem": "grouped_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread makes ROWS x COLUMNS elements of y, eight partial sums for each",
  "tunables": {"ROWS": [4, 2, 1], "COLUMNS": [2, 1, 4], "ALONG": [8, 16, 32]},
  "constraints": ["ROWS * COLUMNS <= 8"],
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(T, ROWS * ALONG)", "ceil_div(N, COLUMNS * 8)", 1], "block": [8, "ALONG", 1],
     "args": ["x", "w", "offsets", "y", "T", "N", "K"]}
  ]
}
*/
// y[t, n] = sum_k x[t, k] * w[e, n, k] for offsets[e] <= t < offsets[e + 1]; x: [T, K], w: [E, N, K], offsets: [E + 1],
// y: [T, N], all row-major.
//
// A thread owns ROWS tokens and COLUMNS columns. It takes the tokens of one expert at a time, mostly all of them, reads
// eight elements of each row at once and keeps eight sums for each product of two rows, which vectors of a processor
// hold. Products with tokens of another expert are dropped. Rows whose length is no multiple of 8 are read element by
// element. There is nothing to share between threads: this is the version for devices without tensor cores.
#include <cuda_bf16.h>

struct __align__(16) Eight {
  __nv_bfloat16 value[8];
};

extern "C" __global__ void __launch_bounds__(8 * ALONG)
    gemm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const int* __restrict__ offsets,
         __nv_bfloat16* __restrict__ y, int T, int N, int K) {
  const int t0 = (blockIdx.x * ALONG + threadIdx.y) * ROWS, n0 = (blockIdx.y * 8 + threadIdx.x) * COLUMNS;
  if (t0 >= T || n0 >= N) return;
  const int last = min(t0 + ROWS, T), packed = K % 8 == 0 ? K : 0;
  const __nv_bfloat16* row[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) row[r] = x + (size_t)min(t0 + r, T - 1) * K;  // surplus rows repeat the last one

  int e = 0;
  for (int t = t0; t < last; t = offsets[e + 1]) {
    while (offsets[e + 1] <= t) ++e;
    const __nv_bfloat16* column[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) column[c] = w + ((size_t)e * N + min(n0 + c, N - 1)) * K;

    float sums[ROWS][COLUMNS][8] = {};
    for (int k = 0; k < packed; k += 8) {
      float left[ROWS][8], right[COLUMNS][8];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const Eight eight = *(const Eight*)(row[r] + k);
#pragma unroll
        for (int j = 0; j < 8; ++j) left[r][j] = __bfloat162float(eight.value[j]);
      }
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const Eight eight = *(const Eight*)(column[c] + k);
#pragma unroll
        for (int j = 0; j < 8; ++j) right[c][j] = __bfloat162float(eight.value[j]);
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
#pragma unroll
          for (int j = 0; j < 8; ++j) sums[r][c][j] += left[r][j] * right[c][j];
        }
      }
    }
    for (int k = packed; k < K; ++k) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) sums[r][c][0] += __bfloat162float(row[r][k]) * __bfloat162float(column[c][k]);
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (t0 + r < t || t0 + r >= min(last, offsets[e + 1])) continue;  // another expert's
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const float* s = sums[r][c];
        const float sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        if (n0 + c < N) y[(size_t)(t0 + r) * N + n0 + c] = __float2bfloat16(sum);
      }
    }
  }
}
