/* kernelwright
{
  "problem": "upsample_nearest_backward_f32",
  "backends": ["cpu", "cuda"],
  "description": "a thread for eight rows of a plane, whose number has 32 bits",
  "launches": [
    {"kernel": "downsample", "grid": ["N * C", "ceil_div(H, 8)", 1], "block": [1, 1, 1], "args": ["dy", "dx", "H", "W"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
extern "C" __global__ void downsample(const float* dy, float* dx, int H, int W) {
  const int number = blockIdx.x;
  const size_t plane = (size_t)number * H * W;
  for (int i = blockIdx.y * 8; i < min(H, (int)blockIdx.y * 8 + 8); ++i) {
    const float *upper = dy + 4 * plane + (size_t)4 * i * W, *lower = upper + 2 * W;
    float* to = dx + plane + (size_t)i * W;
    for (int j = 0; j < W; ++j) to[j] = (upper[2 * j] + upper[2 * j + 1]) + (lower[2 * j] + lower[2 * j + 1]);
  }
}
