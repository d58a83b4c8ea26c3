/* kernelwright
{
  "problem": "depthwise_conv2d_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "convolve", "grid": ["B * C", "ceil_div(H * W, 128)", 1], "block": ["min(128, H * W)", 1, 1],
     "args": ["x", "w", "y", "C", "H", "W"]}
  ]
}
*/
// y[b, c, i, j] = sum_{r, s} x[b, c, i + r - 1, j + s - 1] w[c, r, s]; x, y: [B, C, H, W], w: [C, 3, 3].
extern "C" __global__ void convolve(const float* x, const float* w, float* y, int C, int H, int W) {
  const int e = blockIdx.y * blockDim.x + threadIdx.x;
  if (e >= H * W) return;
  const int i = e / W, j = e % W, c = blockIdx.x % C;
  const size_t image = (size_t)blockIdx.x * H * W;
  float sum = 0;
  for (int r = 0; r < 3; ++r) {
    for (int s = 0; s < 3; ++s) {
      const int row = i + r - 1, column = j + s - 1;
      if (row < 0 || row >= H || column < 0 || column >= W) continue;
      sum += x[image + row * W + column] * w[(c * 3 + r) * 3 + s];
    }
  }
  y[image + e] = sum;
}
