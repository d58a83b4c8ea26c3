/* kernelwright
{
  "problem": "conv2d_tf32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "the reference: fp64, one thread per filter and eight neighbouring pixels",
  "launches": [
    {"kernel": "conv2d", "grid": ["B * H * ceil_div(W, 8)", "ceil_div(K, 64)", 1], "block": [64, 1, 1],
     "args": ["x", "w", "y", "H", "W", "C", "K"]}
  ]
}
*/
// Floating outputs of a reference are double, whatever the problem's output dtype.
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C].
extern "C" __global__ void conv2d(const float* x, const float* w, double* y, int H, int W, int C, int K) {
  constexpr int kPixels = 8;
  const int f = blockIdx.y * blockDim.x + threadIdx.x, groups = (W + kPixels - 1) / kPixels;
  if (f >= K) return;
  const int j0 = blockIdx.x % groups * kPixels, i = blockIdx.x / groups % H;
  const size_t image = (size_t)(blockIdx.x / groups / H) * H;
  double sums[kPixels] = {};
  for (int r = 0; r < 3; ++r) {
    const int row = i + r - 1;
    if (row < 0 || row >= H) continue;
    for (int s = 0; s < 3; ++s) {
      for (int c = 0; c < C; ++c) {
        const double weight = w[(((size_t)f * 3 + r) * 3 + s) * C + c];
        for (int p = 0; p < kPixels; ++p) {
          const int column = j0 + p + s - 1;
          if (column < 0 || column >= W) continue;
          sums[p] += weight * (double)x[((image + row) * W + column) * C + c];
        }
      }
    }
  }
  for (int p = 0; p < kPixels; ++p) {
    if (j0 + p < W) y[((image + i) * W + j0 + p) * K + f] = sums[p];
  }
}
