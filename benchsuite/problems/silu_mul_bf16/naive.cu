/* kernelwright
{
  "problem": "silu_mul_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "silu_mul", "grid": ["M", "ceil_div(N, 128)", 1], "block": ["min(128, N)", 1, 1],
     "args": ["x", "y", "N"]}
  ]
}
*/
// y[m, n] = g / (1 + exp(-g)) * u, g = x[m, n], u = x[m, N + n]; x: [M, 2 N], y: [M, N].
#include <cuda_bf16.h>

extern "C" __global__ void silu_mul(const __nv_bfloat16* x, __nv_bfloat16* y, int N) {
  const int n = blockIdx.y * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const size_t row = blockIdx.x;
  const float g = __bfloat162float(x[row * 2 * N + n]), u = __bfloat162float(x[row * 2 * N + N + n]);
  y[row * N + n] = __float2bfloat16(g / (1.0f + expf(-g)) * u);
}
