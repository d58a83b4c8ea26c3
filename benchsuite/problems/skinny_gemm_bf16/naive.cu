/* kernelwright
{
  "problem": "skinny_gemm_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element of y",
  "launches": [
    {"kernel": "gemm", "grid": ["ceil_div(N, 64)", "M", 1], "block": [64, 1, 1], "args": ["x", "w", "y", "N", "K"]}
  ]
}
*/
// y[m, n] = sum_k x[m, k] * w[n, k]; x: [M, K], w: [N, K], y: [M, N], all row-major.
#include <cuda_bf16.h>

extern "C" __global__ void gemm(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
  if (n >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += __bfloat162float(x[(size_t)m * K + k]) * __bfloat162float(w[(size_t)n * K + k]);
  y[(size_t)m * N + n] = __float2bfloat16(sum);
}
