/* kernelwright
{
  "problem": "pointwise_conv2d_bf16",
  "backends": ["cpu"],
  "description": "FILTERS x PIXELS sums in a thread; its pixels are widened once for each channel",
  "tunables": {"FILTERS": [8, 4, 2], "PIXELS": [32, 64, 16]},
  "launches": [
    {"kernel": "conv2d", "grid": ["ceil_div(H * W, PIXELS)", "ceil_div(K, FILTERS)", "B"], "block": [1, 1, 1],
     "args": ["x", "w", "y", "H * W", "C", "K"]}
  ]
}
*/
// y[b, f, p] = sum_c w[f, c] x[b, c, p]; x: [B, C, pixels], w: [K, C], y: [B, K, pixels].
//
// A tile at an edge reads the last filter or ends early; its inner loop has no conditions where all pixels exist, so
// that the compiler can vectorise it.
#include <cuda_bf16.h>

__device__ __forceinline__ float to_float(const __nv_bfloat16* from) {
  return __int_as_float((int)((unsigned)*(const unsigned short*)from << 16));
}

extern "C" __global__ void conv2d(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                                  __nv_bfloat16* __restrict__ y, int pixels, int C, int K) {
  const int p0 = blockIdx.x * PIXELS, f0 = blockIdx.y * FILTERS;
  const int count = pixels - p0 < PIXELS ? pixels - p0 : PIXELS;
  const __nv_bfloat16* from = x + (size_t)blockIdx.z * C * pixels + p0;
  float sums[FILTERS][PIXELS] = {};
  for (int c = 0; c < C; ++c, from += pixels) {
    float wide[PIXELS];
    if (count == PIXELS) {
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) wide[p] = to_float(from + p);
    } else {
      for (int p = 0; p < PIXELS; ++p) wide[p] = p < count ? to_float(from + p) : 0.0f;
    }
#pragma unroll
    for (int f = 0; f < FILTERS; ++f) {
      const float weight = to_float(w + (size_t)(f0 + f < K ? f0 + f : K - 1) * C + c);
#pragma unroll
      for (int p = 0; p < PIXELS; ++p) sums[f][p] += weight * wide[p];
    }
  }
  for (int f = 0; f < FILTERS && f0 + f < K; ++f) {
    __nv_bfloat16* to = y + ((size_t)blockIdx.z * K + f0 + f) * pixels + p0;
    for (int p = 0; p < count; ++p) to[p] = __float2bfloat16(sums[f][p]);
  }
}
