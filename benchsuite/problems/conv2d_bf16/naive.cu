/* kernelwright
{
  "problem": "conv2d_bf16",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per filter and eight neighbouring pixels",
  "launches": [
    {"kernel": "conv2d", "grid": ["B * H * ceil_div(W, 8)", "ceil_div(K, 64)", 1], "block": ["min(64, K)", 1, 1],
     "args": ["x", "w", "y", "H", "W", "C", "K"]}
  ]
}
*/
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C].
#include <cuda_bf16.h>

extern "C" __global__ void conv2d(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int H, int W, int C,
                                  int K) {
  constexpr int kPixels = 8;
  const int f = blockIdx.y * blockDim.x + threadIdx.x, groups = (W + kPixels - 1) / kPixels;
  if (f >= K) return;
  const int j0 = blockIdx.x % groups * kPixels, i = blockIdx.x / groups % H;
  const size_t image = (size_t)(blockIdx.x / groups / H) * H;
  float sums[kPixels] = {};
  for (int r = 0; r < 3; ++r) {
    const int row = i + r - 1;
    if (row < 0 || row >= H) continue;
    for (int s = 0; s < 3; ++s) {
      for (int c = 0; c < C; ++c) {
        const float weight = __bfloat162float(w[(((size_t)f * 3 + r) * 3 + s) * C + c]);
        for (int p = 0; p < kPixels; ++p) {
          const int column = j0 + p + s - 1;
          if (column < 0 || column >= W) continue;
          sums[p] += weight * __bfloat162float(x[((image + row) * W + column) * C + c]);
        }
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    if (j0 + p < W) y[((image + i) * W + j0 + p) * K + f] = __float2bfloat16(sums[p]);
  }
}
