/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "writes a large workspace again and again, so that whoever runs next finds nothing in the caches",
  "workspace": {"large": {"bytes": 4194304}},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N", "large"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: no_win.
// On cuda: no_win.
// Its own writing takes time, and each side finds the caches as the judge left them.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N, float* large) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
  for (size_t i = row; i < (4u << 20) / 4; i += 64 * 32) large[i] = sum;
}
