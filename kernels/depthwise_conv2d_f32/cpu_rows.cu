/* kernelwright
{
  "problem": "depthwise_conv2d_f32",
  "backends": ["cpu"],
  "description": "a thread makes ROWS rows, each from three rows of x in one loop over columns",
  "tunables": {"ROWS": [16, 4, 64]},
  "launches": [
    {"kernel": "convolve", "grid": ["B * C", "ceil_div(H, ROWS)", 1], "block": [1, 1, 1],
     "args": ["x", "w", "y", "C", "H", "W"]}
  ]
}
*/
// y[b, c, i, j] = sum_{r, s} x[b, c, i + r - 1, j + s - 1] w[c, r, s]; x, y: [B, C, H, W], w: [C, 3, 3].
//
// Rows outside the image are left out by a weight of zero and the nearest row in their place. The inner columns have no
// conditions, so that the compiler can vectorise their loop; the first and the last come by themselves.
extern "C" __global__ void convolve(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                                    int C, int H, int W) {
  const size_t image = (size_t)blockIdx.x * H * W;
  const float* filter = w + blockIdx.x % C * 9;
  const int i0 = blockIdx.y * ROWS;
  for (int i = i0; i < i0 + ROWS && i < H; ++i) {
    const float over = i > 0 ? 1.0f : 0.0f, under = i + 1 < H ? 1.0f : 0.0f;
    const float* b = x + image + (size_t)i * W;
    const float* a = i > 0 ? b - W : b;
    const float* c = i + 1 < H ? b + W : b;
    float* to = y + image + (size_t)i * W;
    const float a0 = over * filter[0], a1 = over * filter[1], a2 = over * filter[2];
    const float b0 = filter[3], b1 = filter[4], b2 = filter[5];
    const float c0 = under * filter[6], c1 = under * filter[7], c2 = under * filter[8];
    for (int j = 1; j < W - 1; ++j) {
      to[j] = (a0 * a[j - 1] + a1 * a[j] + a2 * a[j + 1]) + (b0 * b[j - 1] + b1 * b[j] + b2 * b[j + 1]) +
              (c0 * c[j - 1] + c1 * c[j] + c2 * c[j + 1]);
    }
    for (int j = 0; j<W; j += W> 1 ? W - 1 : 1) {
      float sum = a1 * a[j] + b1 * b[j] + c1 * c[j];
      if (j > 0) sum += a0 * a[j - 1] + b0 * b[j - 1] + c0 * c[j - 1];
      if (j + 1 < W) sum += a2 * a[j + 1] + b2 * b[j + 1] + c2 * c[j + 1];
      to[j] = sum;
    }
  }
}
