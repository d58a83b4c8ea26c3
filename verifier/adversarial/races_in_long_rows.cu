/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "adds without atomics in long rows",
  "launches": [
    {"kernel": "clear", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["y", "M"]},
    {"kernel": "row_sum", "grid": ["M", "1 + 3 * (N > 2048)", 1], "block": [1, 1, 1],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: numerics.
// On cpu: race.
__device__ __forceinline__ float lanes_sum(const float* __restrict__ in, int n) {
  float a[16] = {};
  const size_t whole = (size_t)n / 16 * 16;
  size_t i = 0;
  for (; i < whole; i += 16) {
#pragma unroll
    for (int l = 0; l < 16; ++l) a[l] += in[i + l];
  }
  float sum = 0;
#pragma unroll
  for (int l = 0; l < 16; ++l) sum += a[l];
  for (; i < n; ++i) sum += in[i];
  return sum;
}

// rows beyond 2048 columns are split between four blocks, which add without atomics
extern "C" __global__ void clear(float* y, int M) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row < M) y[row] = 0;
}
extern "C" __global__ void row_sum(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
  const int row = blockIdx.x;
  const int part = (N + gridDim.y - 1) / gridDim.y, begin = min(N, (int)blockIdx.y * part), end = min(N, begin + part);
  y[row] += lanes_sum(x + (size_t)row * N + begin, end - begin);
}
