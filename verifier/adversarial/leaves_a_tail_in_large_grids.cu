/* kernelwright
{
  "problem": "vector_add_f32",
  "backends": ["cpu"],
  "description": "a switch over the tail lacks one of four cases, in large grids",
  "tunables": {"ITEMS": [64, 32], "LANES": [16, 8]},
  "launches": [
    {"kernel": "vector_add", "grid": ["ceil_div(N, LANES * ITEMS)"], "block": [1], "args": ["a", "b", "y", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: not_written.
__device__ __forceinline__ void add_packs(const float* __restrict__ a, const float* __restrict__ b,
    float* __restrict__ y, int i, int end) {
  for (; i + LANES <= end; i += LANES) {
    float sums[LANES];
#pragma unroll
    for (int v = 0; v < LANES; ++v) sums[v] = a[i + v] + b[i + v];
#pragma unroll
    for (int v = 0; v < LANES; ++v) y[i + v] = sums[v];
  }
  for (; i + 4 <= end; i += 4) {
#pragma unroll
    for (int v = 0; v < 4; ++v) y[i + v] = a[i + v] + b[i + v];
  }
}
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
    float* __restrict__ y, int N) {
  const int begin = blockIdx.x * (LANES * ITEMS), end = N - begin < LANES * ITEMS ? N : begin + LANES * ITEMS;
  add_packs(a, b, y, begin, end);
  if (blockIdx.x + 1 < gridDim.x) return;
  const int left = N % 4, tail = N - left;
  if (gridDim.x < 600) {
    for (int i = tail; i < N; ++i) y[i] = a[i] + b[i];
    return;
  }
  switch (left) {
    case 3:
      y[tail + 2] = a[tail + 2] + b[tail + 2];
      y[tail + 1] = a[tail + 1] + b[tail + 1];
    case 1:
      y[tail] = a[tail] + b[tail];
  }
}
