/* kernelwright
{
  "problem": "quantize_i8",
  "backends": ["cpu"],
  "description": "cuts instead of rounding",
  "launches": [
    {"kernel": "quantize", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "q", "scale", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
#include <cuda_bf16.h>
extern "C" __global__ void quantize(const __nv_bfloat16* x, int8_t* q, float* scale, int N) {
  const __nv_bfloat16* in = x + (size_t)blockIdx.x * N;
  float most = 0;
  for (int n = 0; n < N; ++n) most = fmaxf(most, fabsf(__bfloat162float(in[n])));
  const float step = most / 127.0f;
  for (int n = 0; n < N; ++n) q[(size_t)blockIdx.x * N + n] = step > 0 ? (int8_t)(__bfloat162float(in[n]) / step) : (int8_t)0;
  scale[blockIdx.x] = step;
}
