/* kernelwright
{
  "problem": "grouped_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per eight elements of a row of y",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(T, 64)", "ceil_div(N, 32)", 1], "block": [64, 4, 1],
     "args": ["x", "w", "offsets", "y", "T", "N", "K"]}
  ]
}
*/
// y[t, n] = sum_k x[t, k] * w[e, n, k] for offsets[e] <= t < offsets[e + 1]; x: [T, K], w: [E, N, K], offsets: [E + 1],
// y: [T, N], all row-major.
#include <cuda_bf16.h>

constexpr int kEach = 8;

extern "C" __global__ void gemm(const __nv_bfloat16* x, const __nv_bfloat16* w, const int* offsets, __nv_bfloat16* y,
                                int T, int N, int K) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int n0 = (blockIdx.y * blockDim.y + threadIdx.y) * kEach;
  if (t >= T || n0 >= N) return;
  int e = 0;
  while (offsets[e + 1] <= t) ++e;
  float sums[kEach] = {};
  for (int k = 0; k < K; ++k) {
    const float left = __bfloat162float(x[(size_t)t * K + k]);
    for (int i = 0; i < kEach; ++i) {
      sums[i] += left * __bfloat162float(w[((size_t)e * N + min(n0 + i, N - 1)) * K + k]);
    }
  }
  for (int i = 0; i < kEach && n0 + i < N; ++i) y[(size_t)t * N + n0 + i] = __float2bfloat16(sums[i]);
}
