/* kernelwright
{
  "problem": "linear_gelu_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of c through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1], "block": [16, 16, 1],
     "args": ["x", "w", "b", "y", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// y[m, n] = gelu(sum_k x[m, k] * w[n, k] + b[n]) with the tanh form of gelu; x: [M, K], w: [N, K], b: [N], y: [M, N].
#include <cuda_bf16.h>

__device__ double gelu(double v) {
  const double u = 0.79788456080286535588 * (v + 0.044715 * v * v * v);
  return v / (1 + exp(-2 * u));
}

constexpr int kTile = 64, kDepth = 16, kSide = 16, kEach = kTile / kSide;  // each thread makes 4 x 4 elements

extern "C" __global__ void gemm(const __nv_bfloat16* x, const __nv_bfloat16* w, const __nv_bfloat16* b, double* y,
                                int M, int N, int K) {
  __shared__ double left[kDepth][kTile + 1], right[kDepth][kTile + 1];
  const int across = threadIdx.x, along = threadIdx.y;
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  double sums[kEach][kEach] = {};
  const bool owns_any = m0 + along < M && n0 + across < N;  // most do not where c is thin
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int i = along * kSide + across; i < kTile * kDepth; i += kSide * kSide) {
      const int m = m0 + i / kDepth, k = k0 + i % kDepth;
      left[i % kDepth][i / kDepth] = m < M && k < K ? (double)__bfloat162float(x[(size_t)m * K + k]) : 0.0;
      const int n = n0 + i / kDepth;
      right[i % kDepth][i / kDepth] = n < N && k < K ? (double)__bfloat162float(w[(size_t)n * K + k]) : 0.0;
    }
    __syncthreads();
    const int depth = owns_any ? min(kDepth, K - k0) : 0;
    for (int k = 0; k < depth; ++k) {
      for (int r = 0; r < kEach; ++r) {
        for (int s = 0; s < kEach; ++s) sums[r][s] += left[k][along + kSide * r] * right[k][across + kSide * s];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r) {
    for (int s = 0; s < kEach; ++s) {
      const int m = m0 + along + kSide * r, n = n0 + across + kSide * s;
      if (m < M && n < N) y[(size_t)m * N + n] = gelu(sums[r][s] + __bfloat162float(b[n]));
    }
  }
}
