/* kernelwright
{
  "problem": "depthwise_conv2d_f32",
  "backends": ["cpu"],
  "description": "three rows with zeros at both ends in shared memory, one of which is new for each row",
  "launches": [
    {"kernel": "convolve", "grid": ["B * C"], "block": [1], "args": ["x", "w", "y", "C", "H", "W"]}
  ]
}
*/
// Class: numerics.
// On cpu: out_of_bounds.
// Only at W = 1024, where the domain ends, the zero behind a row lies outside of its 1025 elements.
extern "C" __global__ void convolve(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                    int C, int H, int W) {
  __shared__ float rows[3][1025];
  const float* image = x + (size_t)blockIdx.x * H * W;
  float* to = y + (size_t)blockIdx.x * H * W;
  const float* f = w + blockIdx.x % C * 9;
  for (int r = 0; r < 3; ++r) rows[r][0] = rows[r][W + 1] = 0.0f;
  for (int j = 0; j < W; ++j) rows[0][1 + j] = 0.0f, rows[1][1 + j] = image[j];
  const float f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3], f4 = f[4], f5 = f[5], f6 = f[6], f7 = f[7], f8 = f[8];
  for (int i = 0; i < H; ++i) {
    float* next = rows[(i + 2) % 3];
    for (int j = 0; j < W; ++j) next[1 + j] = i + 1 < H ? image[(size_t)(i + 1) * W + j] : 0.0f;
    const float *a = rows[i % 3], *b = rows[(i + 1) % 3], *c = next;
    for (int j = 0; j < W; ++j) {
      to[(size_t)i * W + j] = (f0 * a[j] + f1 * a[j + 1] + f2 * a[j + 2]) +
                              (f3 * b[j] + f4 * b[j + 1] + f5 * b[j + 2]) + (f6 * c[j] + f7 * c[j + 1] + f8 * c[j + 2]);
    }
  }
}
