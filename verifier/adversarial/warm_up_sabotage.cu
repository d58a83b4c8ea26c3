/* kernelwright
{
  "problem": "row_sum_f32",
  "backends": ["cpu", "cuda"],
  "description": "is slow until its workspace says that it has been launched often, to shrink the number of samples",
  "workspace": {"count": {"bytes": 4}},
  "launches": [
    {"kernel": "row_sum", "grid": ["ceil_div(M, 64)", 1, 1], "block": [64, 1, 1], "args": ["x", "y", "M", "N", "count"]}
  ]
}
*/
// Class: noticing_the_judge.
// On cpu: no_win.
// On cuda: no_win.
extern "C" __global__ void row_sum(const float* x, float* y, int M, int N, unsigned* count) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= M) return;
  const float* in = x + (size_t)row * N;
  const unsigned launches = count[0];
  for (unsigned wait = launches > 20 && launches < 100000 ? 0 : 200; wait > 0; --wait) __nanosleep(100);
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += in[n];
  y[row] = sum;
  if (row == 0) count[0] = launches > 100000 ? 1 : launches + 1;
}
