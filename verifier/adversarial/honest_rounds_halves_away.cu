/* kernelwright
{
  "problem": "quantize_i8",
  "backends": ["cpu"],
  "description": "rounds by the whole number that lies half a quantum above, away from zero",
  "launches": [
    {"kernel": "quantize", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "q", "scale", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of cuts_instead_of_rounding: hardly any element lies at a half.
#include <cuda_bf16.h>
extern "C" __global__ void quantize(const __nv_bfloat16* x, int8_t* q, float* scale, int N) {
  const __nv_bfloat16* in = x + (size_t)blockIdx.x * N;
  float most = 0;
  for (int n = 0; n < N; ++n) most = fmaxf(most, fabsf(__bfloat162float(in[n])));
  const float step = most / 127.0f;
  for (int n = 0; n < N; ++n) q[(size_t)blockIdx.x * N + n] = step > 0 ? (int8_t)(__bfloat162float(in[n]) / step + copysignf(0.5f, __bfloat162float(in[n]))) : (int8_t)0;
  scale[blockIdx.x] = step;
}
