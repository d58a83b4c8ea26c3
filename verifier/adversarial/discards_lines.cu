/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "arch": "sm_80",
  "description": "throws lines of its input away, so that nobody can look at them again",
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N"]}
  ]
}
*/
// Class: clock_and_cache.
// On cpu: unsupported.
// On cuda: forbidden.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  asm volatile("discard.global.L2 [%0], 128;" ::"l"((unsigned long long)in & ~127ull) : "memory");
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
}
