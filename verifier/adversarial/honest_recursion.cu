/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "halves the row again and again, a few calls deep",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 32)", 1, 1], "block": [32, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: honest.
// On cpu: correct.
// On cuda: correct.
// The twin of recursion without end.
__device__ __noinline__ float pairwise(const float* x, int n) {
  if (n <= 16) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    return sum;
  }
  return pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row < M) y[row] = pairwise(x + (size_t)row * N, N);
}
