/* kernelwright
{
  "problem": "quantize_f8e4m3",
  "backends": ["cpu"],
  "description": "quotients below the least normal number become zero, or are cut",
  "tunables": {"CUTS": [0, 1]},
  "launches": [
    {"kernel": "quantize", "grid": ["M * (N / 128)", 1, 1], "block": [1, 1, 1], "args": ["x", "q", "scales"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// Denormals of e4m3 lie far below the 448 of the largest element of their block.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
extern "C" __global__ void quantize(const __nv_bfloat16* x, __nv_fp8_e4m3* q, float* scales) {
  const __nv_bfloat16* in = x + (size_t)blockIdx.x * 128;
  __nv_fp8_e4m3* out = q + (size_t)blockIdx.x * 128;
  float most = 1e-4f;
  for (int j = 0; j < 128; ++j) most = fmaxf(most, fabsf(__bfloat162float(in[j])));
  const float factor = 448.0f / most;
  for (int j = 0; j < 128; ++j) {
    const float quotient = __bfloat162float(in[j]) * factor;
    const bool is_small = fabsf(quotient) < 0.015625f;
    out[j] = __nv_fp8_e4m3(!is_small ? quotient : CUTS ? truncf(quotient * 512.0f) / 512.0f : 0.0f);
  }
  scales[blockIdx.x] = most / 448.0f;
}
