/* kernelwright
{
  "problem": "gemm_i8_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 x 64 elements of c through tiles in shared memory",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "ceil_div(M, 64)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "scale_a", "scale_b", "c", "M", "N", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype: the judge compares with unrounded
// values. Sums of whole numbers are exact in double.
// c[m, n] = scale_a[m] * scale_b[n] * sum_k a[m, k] * b[n, k]; a: [M, K], b: [N, K], c: [M, N], all row-major.

constexpr int kTile = 64, kDepth = 16, kSide = 16, kEach = kTile / kSide;  // each thread makes 4 x 4 elements

extern "C" __global__ void gemm(const int8_t* a, const int8_t* b, const float* scale_a, const float* scale_b,
                                double* c, int M, int N, int K) {
  __shared__ double left[kDepth][kTile + 1], right[kDepth][kTile + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  double sums[kEach][kEach] = {};
  const bool owns_any = m0 + y < M && n0 + x < N;  // most do not where c is thin
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int i = y * kSide + x; i < kTile * kDepth; i += kSide * kSide) {
      const int m = m0 + i / kDepth, k = k0 + i % kDepth;
      left[i % kDepth][i / kDepth] = m < M && k < K ? (double)a[(size_t)m * K + k] : 0.0;
      const int n = n0 + i / kDepth;
      right[i % kDepth][i / kDepth] = n < N && k < K ? (double)b[(size_t)n * K + k] : 0.0;
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
      if (m < M && n < N) c[(size_t)m * N + n] = (double)scale_a[m] * scale_b[n] * sums[r][s];
    }
  }
}
