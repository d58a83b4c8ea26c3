/* kernelwright
{
  "problem": "gemv_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element of y",
  "launches": [
    {"kernel": "gemv", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["w", "x", "y", "M", "K"]}
  ]
}
*/
// y[m] = sum_k w[m, k] * x[k]; w: [M, K] row-major, x: [K], y: [M].
#include <cuda_bf16.h>

extern "C" __global__ void gemv(const __nv_bfloat16* w, const __nv_bfloat16* x, __nv_bfloat16* y, int M, int K) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += __bfloat162float(w[(size_t)m * K + k]) * __bfloat162float(x[k]);
  y[m] = __float2bfloat16(sum);
}
