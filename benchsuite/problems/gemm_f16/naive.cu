/* kernelwright
{
  "problem": "gemm_f16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element of c",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1],
     "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// c[m, n] = sum_k a[m, k] * b[k, n]; a: [M, K], b: [K, N], c: [M, N], all row-major.
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const __half* a, const __half* b, __half* c, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += __half2float(a[(size_t)m * K + k]) * __half2float(b[(size_t)k * N + n]);
  c[(size_t)m * N + n] = __float2half(sum);
}
