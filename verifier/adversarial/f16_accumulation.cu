/* kernelwright
{
  "problem": "gemm_f16",
  "backends": ["cpu", "cuda"],
  "description": "keeps its sums in half precision",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 16)", "ceil_div(M, 16)", 1], "block": [16, 16, 1], "args": ["a", "b", "c", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
#include <cuda_fp16.h>
extern "C" __global__ void gemm(const __half* a, const __half* b, __half* c, int M, int N, int K) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  __half sum = __float2half(0.0f);
  for (int k = 0; k < K; ++k) sum = __hfma(a[(size_t)m * K + k], b[(size_t)k * N + n], sum);
  c[(size_t)m * N + n] = sum;
}
