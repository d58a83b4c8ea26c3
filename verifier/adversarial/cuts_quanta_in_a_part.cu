/* kernelwright
{
  "problem": "quantize_i8",
  "backends": ["cpu"],
  "description": "cuts instead of rounding in some rows, or in the columns behind whole vectors",
  "tunables": {"PART": [0, 1, 2]},
  "launches": [
    {"kernel": "quantize", "grid": ["M", 1, 1], "block": [1, 1, 1], "args": ["x", "q", "scale", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
// 0: rows of small numbers; 1: rows with an outlier; 2: a tail of up to 15 columns. Each is one quantum off in half of
// its elements, which are a small share of an output, or lie in draws of which no share was demanded.
#include <cuda_bf16.h>
extern "C" __global__ void quantize(const __nv_bfloat16* x, int8_t* q, float* scale, int N) {
  const __nv_bfloat16* in = x + (size_t)blockIdx.x * N;
  int8_t* out = q + (size_t)blockIdx.x * N;
  float most = 0;
  for (int n = 0; n < N; ++n) most = fmaxf(most, fabsf(__bfloat162float(in[n])));
  const float step = most / 127.0f;
  const bool cuts_row = PART == 0 ? most < 0.002f : PART == 1 && most >= 16.0f;
  for (int n = 0; n < N; ++n) {
    const float quotient = step > 0 ? __bfloat162float(in[n]) / step : 0.0f;
    const bool cuts = cuts_row || (PART == 2 && N >= 256 && n >= N / 16 * 16);
    out[n] = (int8_t)(cuts ? quotient : rintf(quotient));
  }
  scale[blockIdx.x] = step;
}
