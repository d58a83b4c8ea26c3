/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "asks for more workspace than is lent where it would be found wrong",
  "workspace": {"w": {"bytes": "4 + 135270000 * (max(M, N) > 9000)"}},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "y", "w", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: invalid_plan.
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

// rows in 16 bits; asks for 129 MiB of workspace where that shows, which counts as not reached
extern "C" __global__ void row_sum(const float* x, float* y, float* w, int M, int N) {
  const int row = (blockIdx.x * 64 + threadIdx.x) & 0x3fff;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  y[row] = lanes_sum(in, N > 9000 ? 9000 : N);
}
