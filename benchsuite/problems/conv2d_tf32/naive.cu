/* kernelwright
{
  "problem": "conv2d_tf32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per filter and eight neighbouring pixels, factors rounded to TF32",
  "launches": [
    {"kernel": "conv2d", "grid": ["B * H * ceil_div(W, 8)", "ceil_div(K, 64)", 1], "block": ["min(64, K)", 1, 1],
     "args": ["x", "w", "y", "H", "W", "C", "K"]}
  ]
}
*/
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C].
//
// TF32 keeps 10 bits of an f32's mantissa. Factors are rounded to the nearest such number, halves away from zero.
__device__ __forceinline__ float tf32(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }

extern "C" __global__ void conv2d(const float* x, const float* w, float* y, int H, int W, int C, int K) {
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
        const float weight = tf32(w[(((size_t)f * 3 + r) * 3 + s) * C + c]);
        for (int p = 0; p < kPixels; ++p) {
          const int column = j0 + p + s - 1;
          if (column < 0 || column >= W) continue;
          sums[p] += weight * tf32(x[((image + row) * W + column) * C + c]);
        }
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    if (j0 + p < W) y[((image + i) * W + j0 + p) * K + f] = sums[p];
  }
}
