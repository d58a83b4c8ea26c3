/* kernelwright
{
  "problem": "conv2d_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, a block makes 64 filters of 64 pixels through tiles in shared memory",
  "launches": [
    {"kernel": "conv2d", "grid": ["ceil_div(B * H * W, 64)", "ceil_div(K, 64)", 1],
     "block": ["min(8, max(ceil_div(K, 4), (B * H * W + K) * 9 * C / 65536))",
               "min(16, max(max(4, ceil_div(B * H * W, 4)), (B * H * W + K) * 9 * C / 32768))", 1],
     "args": ["x", "w", "y", "B * H * W", "H", "W", "C", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C].
// A product of pixels, whose rows are the 9 C elements around them, with filters.
#include <cuda_bf16.h>
#include <kw/exact_product.cuh>

extern "C" __global__ void __launch_bounds__(128, 4)
    conv2d(const __nv_bfloat16* x, const __nv_bfloat16* w, double* y, int pixels, int H, int W, int C, int K) {
  kw::exact_tile<true>(
      blockIdx.x * 64, pixels, blockIdx.y * 64, K, 9 * C,
      [&](int pixel, int k) {
        const int s = k / C % 3 - 1, r = k / C / 3 - 1, column = pixel % W + s, row = pixel / W % H + r;
        if (row < 0 || row >= H || column < 0 || column >= W) return 0.0f;
        return __bfloat162float(x[((size_t)pixel + r * W + s) * C + k % C]);
      },
      [&](int k, int f) { return __bfloat162float(w[(size_t)f * 9 * C + k]); },
      [&](int pixel, int f, double sum) { y[(size_t)pixel * K + f] = sum; });
}
