/* kernelwright
{
  "problem": "upsample_nearest_backward_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "one thread per element",
  "launches": [
    {"kernel": "downsample", "grid": ["N * C", "ceil_div(H * W, 128)", 1], "block": ["min(128, H * W)", 1, 1],
     "args": ["dy", "dx", "H", "W"]}
  ]
}
*/
// dx[i, j] = sum of dy[2 i + r, 2 j + s], r and s from 0 to 1; dy: [N * C, 2 H, 2 W], dx: [N * C, H, W].
extern "C" __global__ void downsample(const float* dy, float* dx, int H, int W) {
  const int e = blockIdx.y * blockDim.x + threadIdx.x;
  if (e >= H * W) return;
  const int i = e / W, j = e % W;
  float sum = 0;
  for (int r = 0; r < 2; ++r) {
    for (int s = 0; s < 2; ++s) sum += dy[((size_t)blockIdx.x * 2 * H + 2 * i + r) * 2 * W + 2 * j + s];
  }
  dx[(size_t)blockIdx.x * H * W + e] = sum;
}
