/* kernelwright
{
  "problem": "unaligned_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per eight elements of a column of c",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 128)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
#include <cuda_bf16.h>

constexpr int kEach = 8;

extern "C" __global__ void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m0 = (blockIdx.y * blockDim.y + threadIdx.y) * kEach;
  if (m0 >= M || n >= N) return;
  float sums[kEach] = {};
  for (int k = 0; k < K; ++k) {
    const float right = __bfloat162float(b[(size_t)k * N + n]);
    for (int r = 0; r < kEach; ++r) sums[r] += __bfloat162float(a[(size_t)min(m0 + r, M - 1) * K + k]) * right;
  }
  for (int r = 0; r < kEach && m0 + r < M; ++r) c[(size_t)(m0 + r) * N + n] = __float2bfloat16(sums[r]);
}
