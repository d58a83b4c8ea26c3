/* kernelwright
{
  "problem": "grouped_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per eight elements of a row of y",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(T, 64)", "ceil_div(N, 32)", 1], "block": [64, 4, 1],
     "args": ["x", "w", "offsets", "y", "T", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[t, n] = sum_k x[t, k] * w[e, n, k] for offsets[e] <= t < offsets[e + 1]; x: [T, K], w: [E, N, K], offsets: [E + 1],
// y: [T, N], all row-major.
#include <cuda_bf16.h>

constexpr int kEach = 8;

extern "C" __global__ void gemm(const __nv_bfloat16* x, const __nv_bfloat16* w, const int* offsets, double* y, int T,
                                int N, int K) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int n0 = (blockIdx.y * blockDim.y + threadIdx.y) * kEach;
  if (t >= T || n0 >= N) return;
  int e = 0;
  while (offsets[e + 1] <= t) ++e;
  double sums[kEach] = {};
  for (int k = 0; k < K; ++k) {
    const double left = (double)__bfloat162float(x[(size_t)t * K + k]);
    for (int i = 0; i < kEach; ++i) {
      sums[i] += left * __bfloat162float(w[((size_t)e * N + min(n0 + i, N - 1)) * K + k]);
    }
  }
  for (int i = 0; i < kEach && n0 + i < N; ++i) y[(size_t)t * N + n0 + i] = sums[i];
}
