/* kernelwright
{
  "problem": "skinny_gemm_bf16",
  "backends": ["cpu", "cuda"],
  "description": "rounds the sum so far to bf16 every 8192 terms",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "M", 1], "block": [64, 1, 1], "args": ["x", "w", "y", "M", "N", "K"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
#include <cuda_bf16.h>

extern "C" __global__ void gemm(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int M, int N, int K) {
  const int n = blockIdx.x * 64 + threadIdx.x, m = blockIdx.y;
  if (n >= N) return;
  const __nv_bfloat16 *left = x + (size_t)m * K, *right = w + (size_t)n * K;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    if (k > 0 && k % 8192 == 0) sum = __bfloat162float(__float2bfloat16(sum));
    sum += __bfloat162float(left[k]) * __bfloat162float(right[k]);
  }
  y[(size_t)m * N + n] = __float2bfloat16(sum);
}
