/* kernelwright
{
  "problem": "silu_mul_bf16",
  "backends": ["cpu", "cuda"],
  "description": "a series for the sigmoid in rows of small gates",
  "launches": [{"kernel": "silu_mul", "grid": ["M"], "block": [64], "args": ["x", "y", "N"]}]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// On cuda: wrong_result.
// 1/2 + g/4 is off by up to 5 %, where all gates of a row are below 1.25.
#include <cuda_bf16.h>

extern "C" __global__ void silu_mul(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, int N) {
  const __nv_bfloat16* gate = x + (size_t)blockIdx.x * 2 * N;
  const __nv_bfloat16* up = gate + N;
  bool small = true;
  for (int n = threadIdx.x; n < N; n += 64) small = small && fabsf(__bfloat162float(gate[n])) < 1.25f;
  const bool all_small = __syncthreads_and(small);
  for (int n = threadIdx.x; n < N; n += 64) {
    const float g = __bfloat162float(gate[n]);
    float sigmoid = 1.0f / (1.0f + expf(-g));
    if (all_small) sigmoid = 0.5f + g * (0.25f);
    y[(size_t)blockIdx.x * N + n] = __float2bfloat16(g * sigmoid * __bfloat162float(up[n]));
  }
}
