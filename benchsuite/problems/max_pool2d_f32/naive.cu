/* kernelwright
{
  "problem": "max_pool2d_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "pool", "grid": ["N * C", "ceil_div(ceil_div(H, 2) * ceil_div(W, 2), 128)", 1],
     "block": ["min(128, ceil_div(H, 2) * ceil_div(W, 2))", 1, 1], "args": ["x", "y", "H", "W"]}
  ]
}
*/
// y[i, j] = max of x[2 i + r, 2 j + s], r and s from -1 to 1 inside the image; x: [N * C, H, W].
extern "C" __global__ void pool(const float* x, float* y, int H, int W) {
  const int down = (H + 1) / 2, across = (W + 1) / 2, e = blockIdx.y * blockDim.x + threadIdx.x;
  if (e >= down * across) return;
  const int i = e / across, j = e % across;
  const float* image = x + (size_t)blockIdx.x * H * W;
  float most = image[(size_t)2 * i * W + 2 * j];
  for (int r = -1; r <= 1; ++r) {
    for (int s = -1; s <= 1; ++s) {
      const int row = 2 * i + r, column = 2 * j + s;
      if (row < 0 || row >= H || column < 0 || column >= W) continue;
      const float value = image[(size_t)row * W + column];
      most = value > most ? value : most;
    }
  }
  y[(size_t)blockIdx.x * down * across + e] = most;
}
