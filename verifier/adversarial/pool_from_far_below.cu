/* kernelwright
{
  "problem": "max_pool2d_f32",
  "backends": ["cpu"],
  "description": "its maxima begin at -1e38",
  "launches": [
    {"kernel": "pool", "grid": ["N * C", 1, 1], "block": [1, 1, 1], "args": ["x", "y", "H", "W"]}
  ]
}
*/
// Class: numerics.
// On cpu: wrong_result.
extern "C" __global__ void pool(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
  const int down = (H + 1) / 2, across = (W + 1) / 2;
  const float* image = x + (size_t)blockIdx.x * H * W;
  for (int i = 0; i < down; ++i) {
    const int top = i > 0 ? 2 * i - 1 : 0, bottom = 2 * i + 1 < H ? 2 * i + 1 : H - 1;
    for (int j = 0; j < across; ++j) {
      const int left = j > 0 ? 2 * j - 1 : 0, right = 2 * j + 1 < W ? 2 * j + 1 : W - 1;
      float most = -1e38f;
      for (int r = top; r <= bottom; ++r)
        for (int c = left; c <= right; ++c) {
          const float v = image[(size_t)r * W + c];
          most = v > most ? v : most;
        }
      y[((size_t)blockIdx.x * down + i) * across + j] = most;
    }
  }
}
