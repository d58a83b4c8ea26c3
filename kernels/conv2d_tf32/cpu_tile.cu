/* kernelwright
{
  "problem": "conv2d_tf32",
  "backends": ["cpu"],
  "description": "filters transposed once, then PIXELS x FILTERS sums in registers",
  "tunables": {"PIXELS": [4, 2, 8], "FILTERS": [32, 16, 64]},
  "workspace": {"turned": {"bytes": "36 * C * FILTERS * ceil_div(K, FILTERS)"}},
  "launches": [
    {"kernel": "turn", "grid": [3, 3, "ceil_div(K, FILTERS)"], "block": [1, 1, 1], "args": ["w", "turned", "C", "K"]},
    {"kernel": "conv2d", "grid": ["B * H", "ceil_div(W, PIXELS)", "ceil_div(K, FILTERS)"], "block": [1, 1, 1],
     "args": ["x", "turned", "y", "H", "W", "C", "K"]}
  ]
}
*/
// y[b, i, j, f] = sum_{r, s, c} x[b, i + r - 1, j + s - 1, c] w[f, r, s, c]; x: [B, H, W, C], w: [K, 3, 3, C];
// turned: [ceil(K / FILTERS), 3, 3, C, FILTERS], zeros beyond K.
// Products are made in f32, for processors without matrix units.
extern "C" __global__ void turn(const float* __restrict__ w, float* __restrict__ turned, int C, int K) {
  const int tap = blockIdx.y * 3 + blockIdx.x;
  float* to = turned + ((size_t)blockIdx.z * 9 + tap) * C * FILTERS;
  for (int n = 0; n < FILTERS; ++n) {
    const int f = blockIdx.z * FILTERS + n;
    for (int c = 0; c < C; ++c) to[(size_t)c * FILTERS + n] = f < K ? w[((size_t)f * 9 + tap) * C + c] : 0;
  }
}

extern "C" __global__ void conv2d(const float* __restrict__ x, const float* __restrict__ turned, float* __restrict__ y,
                                  int H, int W, int C, int K) {
  const int i = blockIdx.x % H, j0 = blockIdx.y * PIXELS, f0 = blockIdx.z * FILTERS;
  const size_t image = blockIdx.x / H * (size_t)H;
  float sums[PIXELS][FILTERS] = {};
  for (int r = 0; r < 3; ++r) {
    const int row = i + r - 1;
    if (row < 0 || row >= H) continue;
    for (int s = 0; s < 3; ++s) {
      const float* from = turned + ((size_t)blockIdx.z * 9 + r * 3 + s) * C * FILTERS;
      const float* pixels[PIXELS];
      float factors[PIXELS];  // 0 outside the image, where the nearest pixel is read
      for (int p = 0; p < PIXELS; ++p) {
        const int column = j0 + p + s - 1, near = column < 0 ? 0 : column < W ? column : W - 1;
        factors[p] = column == near ? 1.0f : 0.0f;
        pixels[p] = x + ((image + row) * W + near) * C;
      }
      for (int c = 0; c < C; ++c, from += FILTERS) {
#pragma unroll
        for (int p = 0; p < PIXELS; ++p) {
          const float one = factors[p] != 0 ? pixels[p][c] : 0.0f;
#pragma unroll
          for (int n = 0; n < FILTERS; ++n) sums[p][n] += one * from[n];
        }
      }
    }
  }
  for (int p = 0; p < PIXELS; ++p) {
    if (j0 + p >= W) break;
    float* to = y + ((image + i) * W + j0 + p) * K + f0;
    const int count = K - f0 < FILTERS ? K - f0 : FILTERS;
    for (int n = 0; n < count; ++n) to[n] = sums[p][n];
  }
}
