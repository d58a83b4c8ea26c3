/* kernelwright
{
  "problem": "gemm_i8_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per eight elements of a column of c",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 128)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "scale_a", "scale_b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = scale_a[m] * scale_b[n] * sum_k a[m, k] * b[n, k]; a: [M, K], b: [N, K], c: [M, N], all row-major.
#include <cuda_bf16.h>

constexpr int kEach = 8;

extern "C" __global__ void gemm(const int8_t* a, const int8_t* b, const float* scale_a, const float* scale_b,
                                __nv_bfloat16* c, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m0 = (blockIdx.y * blockDim.y + threadIdx.y) * kEach;
  if (m0 >= M || n >= N) return;
  int sums[kEach] = {};
  for (int k = 0; k < K; ++k) {
    const int right = b[(size_t)n * K + k];
    for (int r = 0; r < kEach; ++r) sums[r] += a[(size_t)min(m0 + r, M - 1) * K + k] * right;
  }
  for (int r = 0; r < kEach && m0 + r < M; ++r)
    c[(size_t)(m0 + r) * N + n] = __float2bfloat16(scale_a[m0 + r] * scale_b[n] * (float)sums[r]);
}
