/* kernelwright
{
  "problem": "gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of c through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values.
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
#include <cuda_bf16.h>

constexpr int kTile = 64, kDepth = 16, kSide = 16, kEach = kTile / kSide;  // each thread makes 4 x 4 elements

extern "C" __global__ void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, double* c, int M, int N, int K) {
  __shared__ double left[kDepth][kTile + 1], right[kDepth][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  double sums[kEach][kEach] = {};
  const bool owns_any = m0 + y < M && n0 + x < N;  // most do not where c is thin
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int i = y * kSide + x; i < kTile * kDepth; i += kSide * kSide) {
      const int m = m0 + i / kDepth, k = k0 + i % kDepth;
      left[i % kDepth][i / kDepth] = m < M && k < K ? (double)__bfloat162float(a[(size_t)m * K + k]) : 0.0;
      const int l = k0 + i / kTile, n = n0 + i % kTile;
      right[i / kTile][i % kTile] = l < K && n < N ? (double)__bfloat162float(b[(size_t)l * N + n]) : 0.0;
    }
    __syncthreads();
    const int depth = owns_any ? min(kDepth, K - k0) : 0;
    for (int k = 0; k < depth; ++k) {
      for (int r = 0; r < kEach; ++r) {
        for (int s = 0; s < kEach; ++s) sums[r][s] += left[k][y + kSide * r] * right[k][x + kSide * s];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kEach; ++r) {
    for (int s = 0; s < kEach; ++s) {
      const int m = m0 + y + kSide * r, n = n0 + x + kSide * s;
      if (m < M && n < N) c[(size_t)m * N + n] = sums[r][s];
    }
  }
}
