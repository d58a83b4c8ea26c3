/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "lets a kernel that it launches itself do the work after the clock has stopped",
  "launches": [
    {"kernel": "row_sum", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: clock_and_cache.
// On cpu: unsupported.
// On cuda: compile_error.
__global__ void later(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += x[(size_t)row * N + n];
  y[row] = sum;
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) { later<<<(M + 63) / 64, 64>>>(x, y, M, N); }
