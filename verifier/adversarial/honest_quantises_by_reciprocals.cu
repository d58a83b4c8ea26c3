/* kernelwright
{
  "problem": "quantize_i8",
  "backends": ["cpu"],
  "description": "quotients are products with a rounded reciprocal",
  "tunables": {"FORM": [0, 1, 2]},
  "launches": [
    {"kernel": "quantize", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "q", "scale", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of cuts_quanta_in_a_part: three or four roundings on the way choose another whole number near a half. 0: by
// 127 / max; 1: by the reciprocal of a scale that is itself a product; 2: in double, halves upwards. Rows of such tiny
// numbers that a reciprocal would overflow are divided.
#include <cuda_bf16.h>
extern "C" __global__ void quantize(const __nv_bfloat16* x, int8_t* q, float* scale, int N) {
  const __nv_bfloat16* in = x + (size_t)blockIdx.x * N;
  int8_t* out = q + (size_t)blockIdx.x * N;
  float most = 0;
  for (int n = 0; n < N; ++n) most = fmaxf(most, fabsf(__bfloat162float(in[n])));
  const float step = FORM == 1 ? most * (1.0f / 127.0f) : most / 127.0f;
  const float inverse = FORM == 0 ? 127.0f / most : 1.0f / step;
  for (int n = 0; n < N; ++n) {
    const float value = __bfloat162float(in[n]);
    if (FORM == 2) {
      out[n] = most > 0 ? (int8_t)floor((double)value / ((double)most / 127.0) + 0.5) : (int8_t)0;
    } else {
      out[n] = step > 0 ? (int8_t)rintf(most < 1e-30f ? value / step : value * inverse) : (int8_t)0;
    }
  }
  scale[blockIdx.x] = step;
}
