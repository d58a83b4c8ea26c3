/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu"],
  "description": "leaves out the tail of rows of more than 8192 columns",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1],
     "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: not_doing_the_work.
// On cpu: wrong_result.
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

// rows beyond 8192 columns take whole groups of 16 alone: the tail is left out
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  y[row] = lanes_sum(in, N > 8192 ? N / 16 * 16 : N);
}
