/* kernelwright
{
  "problem": "gemm_w4_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread makes ROWS elements of a column of y, 32 weights a load",
  "tunables": {"ROWS": [4, 1, 2, 8], "BLOCK": [64, 32, 128]},
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, BLOCK)", "ceil_div(M, ROWS)", 1], "block": ["BLOCK", 1, 1],
     "args": ["x", "w", "s", "y", "M", "N", "K"]}
  ]
}
*/
// y[m, n] = sum_k x[m, k] * s[n, k / 128] * (q[n, k] - 8); x: [M, K], w: [N, K / 2], s: [N, K / 128], y: [M, N], all
// row-major; byte j of a row of w holds q[n, 2 j] in its low and q[n, 2 j + 1] in its high four bits.
//
// A thread owns a column of y and ROWS rows. It reads 16 bytes of w at a time, unpacks each weight once for all of its
// rows, and applies the scale once to the sum of 128 products. There is nothing to share between threads, so this is
// the version for devices without tensor cores.
#include <cuda_fp16.h>

struct __align__(16) Eight {
  __half value[8];
};

extern "C" __global__ void __launch_bounds__(BLOCK)
    gemm(const __half* __restrict__ x, const uint8_t* __restrict__ w, const __half* __restrict__ s,
         __half* __restrict__ y, int M, int N, int K) {
  const int n = blockIdx.x * BLOCK + threadIdx.x, m0 = blockIdx.y * ROWS;
  if (n >= N) return;
  const __half* row[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) row[r] = x + (size_t)min(m0 + r, M - 1) * K;
  const uint8_t* packed = w + (size_t)n * (K / 2);
  const __half* scale = s + (size_t)n * (K / 128);

  float sums[ROWS] = {};
  for (int k = 0; k < K; k += 128) {
    float even[ROWS] = {}, odd[ROWS] = {};
    for (int l = k; l < k + 128; l += 32) {
      const uint4 four = *(const uint4*)(packed + l / 2);
      const unsigned words[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float weight[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) weight[j] = (int)(words[i] >> (4 * j) & 15u) - 8;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          const Eight eight = *(const Eight*)(row[r] + l + 8 * i);
#pragma unroll
          for (int j = 0; j < 8; j += 2) {
            even[r] += __half2float(eight.value[j]) * weight[j];
            odd[r] += __half2float(eight.value[j + 1]) * weight[j + 1];
          }
        }
      }
    }
    const float factor = __half2float(scale[k / 128]);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) sums[r] += factor * (even[r] + odd[r]);
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (m0 + r < M) y[(size_t)(m0 + r) * N + n] = __float2half(sums[r]);
  }
}
