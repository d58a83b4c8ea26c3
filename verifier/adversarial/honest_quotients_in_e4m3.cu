/* kernelwright
{
  "problem": "quantize_f8e4m3",
  "backends": ["cpu"],
  "description": "denormals of e4m3 by an addition, quotients by a reciprocal or in double",
  "tunables": {"FORM": [0, 1]},
  "launches": [
    {"kernel": "quantize", "grid": ["M * (N / 128)", 1, 1], "block": [1, 1, 1], "args": ["x", "q", "scales"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// The twin of flushes_small_quotients. 0: by the reciprocal of the scale, and denormals by adding and taking away
// 1.5 * 2^14; 1: quotients in double, rounded to float once more.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
extern "C" __global__ void quantize(const __nv_bfloat16* x, __nv_fp8_e4m3* q, float* scales) {
  const __nv_bfloat16* in = x + (size_t)blockIdx.x * 128;
  __nv_fp8_e4m3* out = q + (size_t)blockIdx.x * 128;
  float most = 1e-4f;
  for (int j = 0; j < 128; ++j) most = fmaxf(most, fabsf(__bfloat162float(in[j])));
  const float scale = most * (1.0f / 448.0f), inverse = 1.0f / scale;
  for (int j = 0; j < 128; ++j) {
    const float value = __bfloat162float(in[j]);
    float quotient = FORM ? (float)(value / ((double)most / 448.0)) : value * inverse;
    if (!FORM && fabsf(quotient) < 0.015625f) quotient = quotient + 24576.0f - 24576.0f;
    out[j] = __nv_fp8_e4m3(quotient);
  }
  scales[blockIdx.x] = scale;
}
