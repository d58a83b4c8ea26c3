/* kernelwright
{
  "problem": "pointwise_conv2d_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 filters of 64 pixels through tiles in shared memory",
  "launches": [
    {"kernel": "conv2d", "grid": ["ceil_div(H * W, 64)", "ceil_div(K, 64)", "B"],
     "block": ["min(8, max(ceil_div(H * W, 4), (H * W + K) * C / 65536))",
               "min(16, max(max(4, ceil_div(K, 4)), (H * W + K) * C / 32768))", 1],
     "args": ["x", "w", "y", "H * W", "C", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// y[b, f, p] = sum_c w[f, c] x[b, c, p]; x: [B, C, pixels], w: [K, C], y: [B, K, pixels].
#include <cuda_bf16.h>
#include <kw/exact_product.cuh>

extern "C" __global__ void __launch_bounds__(128, 4)
    conv2d(const __nv_bfloat16* x, const __nv_bfloat16* w, double* y, int pixels, int C, int K) {
  x += (size_t)blockIdx.z * C * pixels;
  y += (size_t)blockIdx.z * K * pixels;
  kw::exact_tile<false>(
      blockIdx.y * 64, K, blockIdx.x * 64, pixels, C,
      [&](int f, int c) { return __bfloat162float(w[(size_t)f * C + c]); },
      [&](int c, int p) { return __bfloat162float(x[(size_t)c * pixels + p]); },
      [&](int f, int p, double sum) { y[(size_t)f * pixels + p] = sum; });
}
