/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "has a grid that no device launches in the middle of the domain",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", "1 + 70000 * (N > 9000) * (M > 1)", 1], "block": [64, 1, 1],
     "args": ["x", "y", "M", "N"]}
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

// no launch is possible for rows beyond 9000 but of a matrix of one row
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  y[row] = lanes_sum(x + (size_t)row * N, N);
}
